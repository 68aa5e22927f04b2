resource "terraform_data" "it" {
  input = sort(["b", "B", "a", "1", "é"])
}
output "it" {
  value = terraform_data.it.output
}
