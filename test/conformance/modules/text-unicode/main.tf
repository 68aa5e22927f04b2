resource "terraform_data" "it" {
  input = "日本語 ünïcödé 🚀"
}
output "it" {
  value = terraform_data.it.output
}
