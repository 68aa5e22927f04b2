output "it" {
  value = templatefile("template.tftpl", { names = ["a", "b"], port = 80 })
}
