resource "terraform_data" "it" {
  provisioner "local-exec" {
    command = "exit 3"
    on_failure = continue
  }
}
