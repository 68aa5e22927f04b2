resource "terraform_data" "it" {
  input = <<-EOT
    first
      second
  EOT
}
output "it" {
  value = terraform_data.it.output
}
