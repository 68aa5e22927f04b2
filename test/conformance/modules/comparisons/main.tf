resource "terraform_data" "it" {
  input = {
    less = 1 < 2
    equal = "a" == "a"
    both = true && !false
    either = false || true
  }
}
output "it" {
  value = terraform_data.it.output
}
