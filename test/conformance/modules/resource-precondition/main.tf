resource "terraform_data" "it" {
  input = 5
  lifecycle {
    precondition {
      condition = 5 > 3
      error_message = "Five exceeds three."
    }
    postcondition {
      condition = self.input == 5
      error_message = "It is five."
    }
  }
}
