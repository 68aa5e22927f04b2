variable "a" {
  type = string
}
variable "b" {
  type = string
}
output "both" {
  value = [var.a, var.b]
}
