locals {
  base = "app"
  names = [for n in range(3) : "${local.base}-${n}"]
}
output "names" {
  value = local.names
}
