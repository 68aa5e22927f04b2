module "child" {
  source = "./child"
  count = 2
  name = "n${count.index}"
}
output "it" {
  value = module.child[*].it
}
