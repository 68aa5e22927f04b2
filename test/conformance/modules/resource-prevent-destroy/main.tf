resource "terraform_data" "it" {
  lifecycle {
    prevent_destroy = true
  }
}
