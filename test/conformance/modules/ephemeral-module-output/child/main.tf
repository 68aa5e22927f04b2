variable "it" {
  type = string
  default = "short"
  ephemeral = true
}
output "it" {
  value = var.it
  ephemeral = true
}
