resource "terraform_data" "it" {
  input = 5
  lifecycle {
    postcondition {
      condition = self.output != 5
      error_message = "The output became five."
    }
  }
}
