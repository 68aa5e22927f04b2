resource "terraform_data" "it" {
  input = jsonencode({ a = [1, null, true], b = { c = "d" } })
}
output "it" {
  value = terraform_data.it.output
}
