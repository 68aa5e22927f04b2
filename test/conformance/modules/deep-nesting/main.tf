resource "terraform_data" "it" {
  input = { a = { b = { c = { d = { e = [[[["deep"]]]] } } } } }
}
output "it" {
  value = terraform_data.it.output
}
