output "it" {
  value = terraform_data.nowhere.id
}
