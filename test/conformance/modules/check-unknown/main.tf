resource "terraform_data" "it" {
}
check "it" {
  assert {
    condition = terraform_data.it.id != ""
    error_message = "It has an id."
  }
}
