import {
  for_each = { a = "id-a", b = "id-b" }
  to = terraform_data.it[each.key]
  id = each.value
}
resource "terraform_data" "it" {
  for_each = toset(["a", "b"])
}
