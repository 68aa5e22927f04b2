output "it" {
  value = "main.tf"
}
