resource "terraform_data" "it" {
  input = "x"
  triggers_replace = ["a", 1, null]
}
