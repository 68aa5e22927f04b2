resource "terraform_data" "it" {
  input = <<EOT
first "quoted"
  second
EOT
}
output "it" {
  value = terraform_data.it.output
}
