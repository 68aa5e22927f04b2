resource "terraform_data" "it" {
  count = 0
}
output "it" {
  value = length(terraform_data.it)
}
