resource "terraform_data" "it" {
  input = "x"
}
output "after" {
  value = "y"
  depends_on = [terraform_data.it]
}
