locals {
  text = "Hello, $${name}!"
}
output "it" {
  value = templatestring(local.text, { name = "you" })
}
