variable "it" {
  type = object({ name = string })
}
resource "terraform_data" "it" {
  input = var.it
}
output "it" {
  value = var.it
}
