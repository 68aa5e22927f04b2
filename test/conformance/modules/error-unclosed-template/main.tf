output "it" {
  value = "https://${var.site"
}
