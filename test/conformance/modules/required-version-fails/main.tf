terraform {
  required_version = "< 1.0.0"
}
output "it" {
  value = 1
}
