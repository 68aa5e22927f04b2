output "it" {
  value = file("${path.module}/text.txt")
}
