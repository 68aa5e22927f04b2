resource "terraform_data" "it" {
  provisioner "local-exec" {
    command = "exit 3"
  }
}
