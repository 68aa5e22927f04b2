module "child" {
  source = "./nowhere"
}
