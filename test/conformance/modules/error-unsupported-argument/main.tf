resource "terraform_data" "it" {
  size = 3
}
