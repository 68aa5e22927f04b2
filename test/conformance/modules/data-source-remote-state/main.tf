data "terraform_remote_state" "other" {
  backend = "local"
  config = {
    path = "${path.module}/other.json"
  }
}
output "it" {
  value = data.terraform_remote_state.other.outputs.name
}
