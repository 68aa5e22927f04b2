resource "terraform_data" "it" {
  input = "\u00e9 \U0001F600 line\nbreak"
}
output "it" {
  value = terraform_data.it.output
}
