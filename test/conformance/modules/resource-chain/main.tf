resource "terraform_data" "n0" {
  input = "start"
}
resource "terraform_data" "n1" {
  input = terraform_data.n0.output
}
resource "terraform_data" "n2" {
  input = terraform_data.n1.output
}
resource "terraform_data" "n3" {
  input = terraform_data.n2.output
}
resource "terraform_data" "n4" {
  input = terraform_data.n3.output
}
resource "terraform_data" "n5" {
  input = terraform_data.n4.output
}
resource "terraform_data" "n6" {
  input = terraform_data.n5.output
}
resource "terraform_data" "n7" {
  input = terraform_data.n6.output
}
resource "terraform_data" "n8" {
  input = terraform_data.n7.output
}
resource "terraform_data" "n9" {
  input = terraform_data.n8.output
}
resource "terraform_data" "n10" {
  input = terraform_data.n9.output
}
resource "terraform_data" "n11" {
  input = terraform_data.n10.output
}
output "end" {
  value = terraform_data.n11.output
}
