variable "it" {
  type = string
  default = "x"
  deprecated = "Use other."
}
output "it" {
  value = var.it
}
