resource "terraform_data" "it" {
  input = {
    sum = 1 + 2 * 3
    division = 10 / 4
    modulo = 7 % 3
    negative = -(5)
  }
}
output "it" {
  value = terraform_data.it.output
}
