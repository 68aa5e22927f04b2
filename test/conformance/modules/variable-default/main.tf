variable "it" {
  type = string
  default = "given"
}
resource "terraform_data" "it" {
  input = var.it
}
output "it" {
  value = var.it
}
