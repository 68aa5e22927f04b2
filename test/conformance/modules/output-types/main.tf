output "list" {
  value = ["a", 1, true]
}
output "map" {
  value = { a = 1 }
}
output "set" {
  value = toset(["b", "a"])
}
output "text" {
  value = "x"
}
