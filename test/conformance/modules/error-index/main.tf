output "it" {
  value = ["a"][3]
}
