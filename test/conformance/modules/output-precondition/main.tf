output "it" {
  value = 1
  precondition {
    condition = 1 + 1 == 2
    error_message = "Arithmetic is broken."
  }
}
