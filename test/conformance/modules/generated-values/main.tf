output "id" {
  value = uuid()
}
output "time" {
  value = timestamp()
}
output "planned" {
  value = plantimestamp()
}
