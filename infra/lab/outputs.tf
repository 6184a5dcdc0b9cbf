# The one output of every module under infra/; the shapes are in infra/README.md.

output "hosts" {
  description = "The machines, how to reach them, and how to know them."
  value = { for name, host in local.hosts : name => {
    role     = host.role
    zone     = host.zone
    machine  = host.machine
    instance = host.instance
    address  = host.address
    disk     = var.run_id
    ssh = {
      user          = "root"
      sudo          = false
      alias         = host.instance
      host_name     = host.instance
      port          = 22
      proxy_command = join(" ", [for word in concat(local.program, ["ssh", "--run-id", var.run_id, "--host", name]) : "'${replace(word, "'", "'\\''")}'"])
      known_hosts   = "${host.instance} ${local.host_public_keys[name]}"
    }
  } }
  depends_on = [terraform_data.host, terraform_data.link]
}

output "link" {
  description = "How distance is made, and what it achieved when it came up."
  value       = try(jsondecode(file(terraform_data.link.output.record)), null)
}
