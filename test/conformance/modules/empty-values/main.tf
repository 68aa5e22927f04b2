resource "terraform_data" "it" {
  input = {
    text = ""
    list = []
    map = {}
    object = { a = [] }
  }
}
output "it" {
  value = terraform_data.it.output
}
