resource "terraform_data" "it" {
  input = [{ id = 1 }, { id = 2 }][*].id
}
output "it" {
  value = terraform_data.it.output
}
