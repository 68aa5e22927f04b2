resource "terraform_data" "it" {
  provisioner "local-exec" {
    command = "echo made"
  }
  provisioner "local-exec" {
    when = destroy
    command = "echo gone"
  }
}
