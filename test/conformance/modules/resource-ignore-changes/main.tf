resource "terraform_data" "it" {
  input = timestamp()
  lifecycle {
    ignore_changes = [input]
  }
}
