resource "terraform_data" "it" {
  input = true ? "yes" : "no"
}
output "it" {
  value = terraform_data.it.output
}
