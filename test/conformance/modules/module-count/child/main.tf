variable "name" {
  type = string
}
resource "terraform_data" "it" {
  input = var.name
}
output "it" {
  value = terraform_data.it.output
}
