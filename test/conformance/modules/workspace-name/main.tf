output "it" {
  value = terraform.workspace
}
