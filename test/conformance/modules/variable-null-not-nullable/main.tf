variable "it" {
  type = string
  default = "unset"
  nullable = false
}
resource "terraform_data" "it" {
  input = var.it
}
output "it" {
  value = var.it
}
