resource "terraform_data" "it" {
  input = {
    max = max(1, 2, 3)
    ceil = ceil(1.2)
    floor = floor(-1.2)
    pow = pow(2, 64)
    parse = parseint("ff", 16)
    log = log(16, 2)
  }
}
output "it" {
  value = terraform_data.it.output
}
