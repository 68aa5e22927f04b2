resource "terraform_data" "it" {
  input = {
    added = timeadd("2026-01-01T00:00:00Z", "36h")
    formatted = formatdate("YYYY-MM-DD", "2026-01-01T00:00:00Z")
  }
}
output "it" {
  value = terraform_data.it.output
}
