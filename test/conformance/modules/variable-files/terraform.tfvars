a = "from terraform.tfvars"
