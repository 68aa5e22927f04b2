resource "terraform_data" "it" {
  input = "a\u2028b\u2029c"
}
output "it" {
  value = terraform_data.it.output
}
