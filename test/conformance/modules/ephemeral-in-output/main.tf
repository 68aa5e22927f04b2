variable "it" {
  type = string
  ephemeral = true
}
output "it" {
  value = var.it
}
