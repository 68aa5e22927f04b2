variable "it" {
  type = number
  validation {
    condition = var.it > 0
    error_message = "The size must be positive."
  }
}
resource "terraform_data" "it" {
  input = var.it
}
output "it" {
  value = var.it
}
