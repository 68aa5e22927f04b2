module "child" {
  source = "./child"
}
resource "terraform_data" "it" {
  input = "x"
}
