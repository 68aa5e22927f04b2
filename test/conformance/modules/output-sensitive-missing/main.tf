variable "it" {
  type = string
  sensitive = true
  default = "secret value"
}
output "it" {
  value = var.it
}
