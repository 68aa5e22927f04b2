resource "terraform_data" "it" {
  input = timestamp()
}
