variable "low" {
  type = number
  default = 1
}
variable "high" {
  type = number
  default = 2
  validation {
    condition = var.high > var.low
    error_message = "high must exceed low."
  }
}
output "range" {
  value = [var.low, var.high]
}
