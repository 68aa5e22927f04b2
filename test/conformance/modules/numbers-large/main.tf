resource "terraform_data" "it" {
  input = {
    big = 9007199254740993
    huge = 123456789012345678901234567890
    fraction = 0.1 + 0.2
    exponent = 1e21
  }
}
output "it" {
  value = terraform_data.it.output
}
