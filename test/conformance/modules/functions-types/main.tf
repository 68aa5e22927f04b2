resource "terraform_data" "it" {
  input = {
    number = tonumber("12.50")
    text = tostring(12.5)
    set = toset(["b", "a", "b"])
    flag = tobool("true")
    can = can(tonumber("x"))
    try = try(tonumber("x"), "fallback")
  }
}
output "it" {
  value = terraform_data.it.output
}
