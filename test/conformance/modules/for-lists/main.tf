resource "terraform_data" "it" {
  input = [for n in [1, 2, 3] : n * 2 if n != 2]
}
output "it" {
  value = terraform_data.it.output
}
