variable "it" {
  type = string
}
output "it" {
  value = var.it
}
