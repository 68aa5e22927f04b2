resource "terraform_data" "it" {
  input = "$${literal} %%{literal} \t tab \" quote \\ backslash"
}
output "it" {
  value = terraform_data.it.output
}
