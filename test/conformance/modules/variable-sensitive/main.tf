variable "it" {
  type = string
  sensitive = true
}
resource "terraform_data" "it" {
  input = var.it
}
output "it" {
  value = var.it
  sensitive = true
}
output "length" {
  value = nonsensitive(length(var.it))
}
