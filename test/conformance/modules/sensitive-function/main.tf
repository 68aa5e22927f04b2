output "it" {
  value = sensitive("hidden text")
  sensitive = true
}
