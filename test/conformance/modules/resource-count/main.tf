resource "terraform_data" "it" {
  count = 3
  input = count.index
}
output "it" {
  value = terraform_data.it[*].output
}
