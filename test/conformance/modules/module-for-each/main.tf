module "child" {
  source = "./child"
  for_each = toset(["a b", "c\"d"])
  name = each.key
}
output "it" {
  value = { for key, item in module.child : key => item.it }
}
