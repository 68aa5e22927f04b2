resource "terraform_data" "it" {
  input = {
    md5 = md5("x")
    sha1 = sha1("x")
    sha256 = sha256("x")
    base64sha512 = base64sha512("x")
  }
}
output "it" {
  value = terraform_data.it.output
}
