resource "terraform_data" "it" {
  lifecycle {
    enabled = false
  }
}
