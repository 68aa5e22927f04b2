output "it" {
  value = provider::terraform::encode_expr({ a = [1, "b"] })
}
terraform {
  required_providers {
    terraform = {
      source = "terraform.io/builtin/terraform"
    }
  }
}
