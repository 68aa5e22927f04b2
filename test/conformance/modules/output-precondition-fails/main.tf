output "it" {
  value = 1
  precondition {
    condition = 1 + 1 == 3
    error_message = "Arithmetic holds."
  }
}
