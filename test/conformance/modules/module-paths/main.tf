module "child" {
  source = "./child"
}
output "it" {
  value = module.child.it
}
output "root" {
  value = basename(path.module)
}
