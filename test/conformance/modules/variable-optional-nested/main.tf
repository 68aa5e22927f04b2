variable "it" {
  type = list(object({ name = string, rules = optional(list(object({ port = optional(number, 443) })), []) }))
}
resource "terraform_data" "it" {
  input = var.it
}
output "it" {
  value = var.it
}
