resource "terraform_data" "it" {
  input = 1
}
check "it" {
  assert {
    condition     = terraform_data.it.input == 1
    error_message = "One is one."
  }
}
output "it" {
  value = terraform_data.it.output
}
