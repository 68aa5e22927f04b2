variable "it" {
  type = number
}
resource "terraform_data" "it" {
  input = var.it
}
output "it" {
  value = var.it
}
