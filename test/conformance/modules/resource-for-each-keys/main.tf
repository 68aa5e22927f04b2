resource "terraform_data" "it" {
  for_each = toset(["plain", "with \"quotes\"", "日本", "a[0]", "a.b/c", "$${x}", "back\\slash"])
  input = each.key
}
output "it" {
  value = sort([for item in terraform_data.it : item.output])
}
