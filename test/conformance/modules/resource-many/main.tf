resource "terraform_data" "it" {
  count = 200
  input = "item ${count.index}"
}
output "count" {
  value = length(terraform_data.it)
}
