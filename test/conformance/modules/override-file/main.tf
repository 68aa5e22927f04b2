output "it" {
  value = "main"
}
