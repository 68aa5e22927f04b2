resource "terraform_data" "first" {
  input = "a"
}
resource "terraform_data" "it" {
  for_each = toset([terraform_data.first.id])
}
