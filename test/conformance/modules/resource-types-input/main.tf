resource "terraform_data" "it" {
  input = { list = ["a"], number = 1.5, flag = true, none = null, set = toset(["x"]) }
}
output "it" {
  value = terraform_data.it.output
}
