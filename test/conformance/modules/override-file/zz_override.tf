output "it" {
  value = "override"
}
