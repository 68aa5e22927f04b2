resource "terraform_data" "it" {
  input = {
    merged = merge({ a = 1 }, { b = 2 })
    flat = flatten([[1], [2, [3]]])
    keys = keys({ b = 1, a = 2 })
    lookup = lookup({ a = 1 }, "z", 9)
    zip = zipmap(["a", "b"], [1, 2])
    chunks = chunklist([1, 2, 3], 2)
    distinct = distinct([1, 1, 2])
  }
}
output "it" {
  value = terraform_data.it.output
}
