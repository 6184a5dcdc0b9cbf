# The one output of every module under infra/; the shapes are in infra/README.md.

output "hosts" {
  description = "The machines, how to reach them, and how to know them."
  value = { for name, host in aws_instance.host : name => {
    role     = var.hosts[name].role
    zone     = var.hosts[name].zone
    machine  = host.instance_type
    instance = "${local.prefix}-${name}"
    address  = host.private_ip
    disk     = "${local.prefix}-${name}"
    ssh = {
      user          = var.ssh_user
      sudo          = true
      alias         = "${local.prefix}-${name}"
      host_name     = host.public_ip
      port          = 22
      proxy_command = null
      known_hosts   = "${local.prefix}-${name},${host.public_ip} ${local.host_public_keys[name]}"
    }
  } }
}

output "link" {
  description = "How distance is made: here by distance."
  value = {
    kind      = "network"
    mtu       = null # 9001 within a network, less between regions
    scheduler = null
    paths     = []
  }
}
