terraform {
  encryption {
    key_provider "pbkdf2" "main" {
      passphrase = "correct horse battery staple"
    }
    method "aes_gcm" "main" {
      keys = key_provider.pbkdf2.main
    }
    state {
      method = method.aes_gcm.main
    }
    plan {
      method = method.aes_gcm.main
    }
  }
}
resource "terraform_data" "it" {
  input = "x"
}
output "it" {
  value = terraform_data.it.output
}
