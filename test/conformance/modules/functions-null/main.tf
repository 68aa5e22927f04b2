resource "terraform_data" "it" {
  input = {
    coalesce = coalesce(null, "", "a")
    list = coalescelist([], ["x"])
    compact = compact(["a", "", "b"])
    one = one([])
  }
}
output "it" {
  value = terraform_data.it.output
}
