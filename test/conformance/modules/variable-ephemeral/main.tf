variable "it" {
  type = string
  ephemeral = true
}
resource "terraform_data" "it" {
  input = "constant"
}
