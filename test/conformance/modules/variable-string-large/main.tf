variable "it" {
  type = string
}
resource "terraform_data" "it" {
  input = length(var.it)
}
output "it" {
  value = var.it
}
