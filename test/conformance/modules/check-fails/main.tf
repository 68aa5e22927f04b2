check "it" {
  assert {
    condition = 1 == 2
    error_message = "One is not two."
  }
}
resource "terraform_data" "it" {
}
