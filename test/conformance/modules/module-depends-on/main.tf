resource "terraform_data" "first" {
}
module "child" {
  source = "./child"
  name = "x"
  depends_on = [terraform_data.first]
}
