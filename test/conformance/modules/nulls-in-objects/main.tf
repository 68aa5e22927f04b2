resource "terraform_data" "it" {
  input = {
    missing = null
    list = [null, 1]
    nested = { value = null }
  }
}
output "it" {
  value = terraform_data.it.output
}
