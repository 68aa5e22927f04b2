import {
  to = terraform_data.it
  id = "an-id"
}
resource "terraform_data" "it" {
  input = "x"
}
