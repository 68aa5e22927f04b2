resource "terraform_data" "it" {
  input = "a b"
  provisioner "local-exec" {
    command = "test \"$VALUE\" = \"a b\""
    environment = {
      VALUE = self.input
    }
  }
}
