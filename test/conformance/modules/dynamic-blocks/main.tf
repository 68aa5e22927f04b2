resource "terraform_data" "it" {
  input = "x"
  dynamic "provisioner" {
    for_each = []
    content {}
  }
}
