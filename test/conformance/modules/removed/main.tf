removed {
  from = terraform_data.old
  lifecycle {
    destroy = false
  }
}
output "it" {
  value = 1
}
