resource "terraform_data" "it" {
  input = {
    subnet = cidrsubnet("10.0.0.0/16", 8, 2)
    host = cidrhost("10.0.0.0/24", 5)
    netmask = cidrnetmask("10.0.0.0/20")
    subnets = cidrsubnets("10.1.0.0/16", 4, 4, 8)
  }
}
output "it" {
  value = terraform_data.it.output
}
