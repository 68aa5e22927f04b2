resource "terraform_data" "it" {
  input = 5
  lifecycle {
    precondition {
      condition = 5 < 3
      error_message = "Five does not stay below three."
    }
  }
}
