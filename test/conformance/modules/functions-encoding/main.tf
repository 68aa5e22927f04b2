resource "terraform_data" "it" {
  input = {
    base64 = base64encode("héllo")
    decoded = base64decode("aGk=")
    json = jsondecode("{\"a\": 12345678901234567890}")
    yaml = yamlencode({ a = [1, "b"] })
    url = urlencode("a b&c")
    csv = csvdecode("a,b\n1,2\n")
  }
}
output "it" {
  value = terraform_data.it.output
}
