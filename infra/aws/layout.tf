# What follows from the variables alone: regions, their networks, and what a host is told at its first boot.

locals {
  prefix  = "orch-${var.run_id}"
  tags    = merge(var.labels, { app = "orch", orch-run = var.run_id })
  range   = "10.130.0.0/16"
  region  = { for name, host in var.hosts : name => regex("^(.*[0-9])[a-z]$", host.zone)[0] }
  regions = sort(distinct(values(local.region)))
  zones   = { for zone in sort(distinct([for host in values(var.hosts) : host.zone])) : zone => regex("^(.*[0-9])[a-z]$", zone)[0] }

  # A network per region, a subnet per zone.
  networks = { for index, region in local.regions : region => cidrsubnet(local.range, 4, index) }
  subnets  = { for index, zone in keys(local.zones) : zone => cidrsubnet(local.networks[local.zones[zone]], 4, index) }

  # Each two regions are joined once, and routed both ways.
  pairs = { for pair in setproduct(local.regions, local.regions) : "${pair[0]} ${pair[1]}" => {
    from = pair[0]
    to   = pair[1]
  } if index(local.regions, pair[0]) < index(local.regions, pair[1]) }
  ways = merge([for key, pair in local.pairs : {
    "${pair.from} ${pair.to}" = { pair = key, from = pair.from, to = pair.to }
    "${pair.to} ${pair.from}" = { pair = key, from = pair.to, to = pair.from }
  }]...)

  is_arm = { for name, host in var.hosts : name => can(regex("^[a-z]+[0-9]+g", host.machine)) }
  images = { for name in keys(var.hosts) : "${local.region[name]} ${local.is_arm[name] ? "arm64" : "amd64"}" => {
    region = local.region[name]
    arch   = local.is_arm[name] ? "arm64" : "amd64"
  }... }

  # Without the comment: known_hosts lines and keys compare by type and key alone.
  host_public_keys = { for name, key in var.host_keys : name => join(" ", slice(split(" ", trimspace(key.public_key)), 0, 2)) }

  # cloud-init: the host key is there before the SSH server is, and no other one is made. `bootcmd` runs at each boot, so
  # that a restart starts the timer anew; --no-block, since timers start later than cloud-init.
  first_boot = { for name in keys(var.hosts) : name => {
    users = [{
      name                = var.ssh_user
      shell               = "/bin/bash"
      sudo                = "ALL=(ALL) NOPASSWD:ALL"
      lock_passwd         = true
      ssh_authorized_keys = [trimspace(var.ssh_public_key)]
    }]
    ssh_deletekeys = true
    ssh_keys = {
      ed25519_private = try(file(var.host_keys[name].private_key_path), "")
      ed25519_public  = try(local.host_public_keys[name], "")
    }
    bootcmd = [
      ["systemd-run", "--no-block", "--unit=orch-ttl", "--on-active=${var.ttl_seconds}s", "systemctl", "poweroff"],
      ["sysctl", "-w", "net.ipv4.tcp_congestion_control=cubic"],
    ]
  } }
}
