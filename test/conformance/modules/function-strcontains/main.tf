output "it" {
  value = strcontains("hello", "ell")
}
