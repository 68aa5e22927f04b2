output "it" {
  value = issensitive(sensitive("x"))
}
