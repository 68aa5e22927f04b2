module "child" {
  source = "./child"
  name = "x"
}
output "it" {
  value = module.child.it
}
