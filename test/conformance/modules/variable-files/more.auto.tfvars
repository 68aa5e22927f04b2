b = "from more.auto.tfvars"
