resource "terraform_data" "a" {
}
resource "terraform_data" "b" {
  count = length(terraform_data.a.id)
}
