locals {
  where = "./child"
}
module "child" {
  source = local.where
  name = "x"
}
