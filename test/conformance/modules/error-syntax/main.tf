output "it" {
  value = "unclosed
}
