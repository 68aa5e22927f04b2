resource "terraform_data" "it" {
  input = "sum: ${1 + 2} %{ if true }yes%{ else }no%{ endif } %{ for n in [1, 2] }${n},%{ endfor }"
}
output "it" {
  value = terraform_data.it.output
}
