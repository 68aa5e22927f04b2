output "it" {
  value = nofunction(1)
}
