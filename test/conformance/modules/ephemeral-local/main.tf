variable "it" {
  type = string
  default = "short lived"
  ephemeral = true
}
locals {
  made = "${var.it}!"
}
output "length" {
  value = 1
}
