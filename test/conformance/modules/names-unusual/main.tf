resource "terraform_data" "with-dash_and_9" {
  input = 1
}
output "out-put_9" {
  value = terraform_data.with-dash_and_9.output
}
