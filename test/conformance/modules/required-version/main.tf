terraform {
  required_version = ">= 1.5.0, < 3.0.0"
}
output "it" {
  value = 1
}
