resource "terraform_data" "it" {
  for_each = { a = 1, b = 2 }
  input = "${each.key}=${each.value}"
}
output "it" {
  value = { for key, item in terraform_data.it : key => item.output }
}
