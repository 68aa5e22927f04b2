output "it" {
  value = 1
}
output "it" {
  value = 2
}
