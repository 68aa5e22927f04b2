resource "terraform_data" "it" {
  triggers_replace = "x"
  lifecycle {
    create_before_destroy = true
  }
}
