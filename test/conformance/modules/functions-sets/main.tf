resource "terraform_data" "it" {
  input = {
    union = setunion(["a"], ["b"])
    product = setproduct(["a", "b"], [1, 2])
    intersection = setintersection(["a", "b"], ["b"])
  }
}
output "it" {
  value = terraform_data.it.output
}
