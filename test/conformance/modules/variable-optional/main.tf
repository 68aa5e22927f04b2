variable "it" {
  type = object({ name = string, port = optional(number, 80), tags = optional(map(string)) })
}
resource "terraform_data" "it" {
  input = var.it
}
output "it" {
  value = var.it
}
