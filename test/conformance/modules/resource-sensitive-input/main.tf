variable "it" {
  type = string
  sensitive = true
  default = "quite secret"
}
resource "terraform_data" "it" {
  input = { open = "x", hidden = var.it }
}
