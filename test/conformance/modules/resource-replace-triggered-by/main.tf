resource "terraform_data" "a" {
  input = 1
}
resource "terraform_data" "b" {
  lifecycle {
    replace_triggered_by = [terraform_data.a]
  }
}
