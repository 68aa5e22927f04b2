output "nothing" {
  value = null
}
output "some" {
  value = 1
}
