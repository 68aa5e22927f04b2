output "it" {
  value = var.nowhere
}
