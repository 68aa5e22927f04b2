resource "terraform_data" "it" {
  input = <<EOT
%{ for name in ["a", "b"] ~}
server ${name}
%{ endfor ~}
EOT
}
output "it" {
  value = terraform_data.it.output
}
