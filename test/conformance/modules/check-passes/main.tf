check "it" {
  assert {
    condition = 1 == 1
    error_message = "One is one."
  }
}
output "it" {
  value = 1
}
