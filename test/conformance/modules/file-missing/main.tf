output "it" {
  value = file("none.txt")
}
