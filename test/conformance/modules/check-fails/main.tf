resource "terraform_data" "it" {
  input = 1
}
check "it" {
  assert {
    condition     = terraform_data.it.input == 2
    error_message = "One is not two."
  }
}
