resource "terraform_data" "it" {
  input = { for key, value in { a = 1, b = 2 } : upper(key) => value }
}
output "it" {
  value = terraform_data.it.output
}
