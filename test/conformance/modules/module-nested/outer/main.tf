module "inner" {
  source = "../inner"
  name = "deep"
}
output "it" {
  value = module.inner.it
}
