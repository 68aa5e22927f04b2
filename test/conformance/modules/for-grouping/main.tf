resource "terraform_data" "it" {
  input = { for word in ["ant", "bee", "ape"] : substr(word, 0, 1) => word... }
}
output "it" {
  value = terraform_data.it.output
}
