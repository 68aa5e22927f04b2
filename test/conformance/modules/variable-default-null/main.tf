variable "it" {
  type = string
  default = null
}
resource "terraform_data" "it" {
  input = var.it
}
output "it" {
  value = var.it
}
