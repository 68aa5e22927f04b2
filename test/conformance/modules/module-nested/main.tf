module "outer" {
  source = "./outer"
}
output "it" {
  value = module.outer.it
}
