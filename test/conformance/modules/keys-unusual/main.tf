resource "terraform_data" "it" {
  input = {
    "with space" = 1
    "with.dot" = 2
    "with\"quote" = 3
    "日本" = 4
    "" = 5
    "__proto__" = 6
    "constructor" = 7
  }
}
output "it" {
  value = terraform_data.it.output
}
