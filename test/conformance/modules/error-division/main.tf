output "it" {
  value = 1 / 0
}
