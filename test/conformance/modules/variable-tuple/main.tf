variable "it" {
  type = tuple([string, number, bool])
}
resource "terraform_data" "it" {
  input = var.it
}
output "it" {
  value = var.it
}
