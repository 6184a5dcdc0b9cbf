# Test helper: one key pair, as a caller of the module would make it.

resource "terraform_data" "key" {
  input = "${path.module}/made/id_ed25519"

  provisioner "local-exec" {
    command = "mkdir -p '${path.module}/made' && rm -f '${self.input}' && ssh-keygen -q -t ed25519 -N '' -C test -f '${self.input}'"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "rm -rf '${path.module}/made'"
  }
}

output "private_key_path" {
  value = abspath(terraform_data.key.output)
}

output "public_key" {
  value = trimspace(file("${terraform_data.key.output}.pub"))
}
