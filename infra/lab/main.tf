# Hosts out of namespaces on this machine. Only terraform_data, which is built in: there is nothing to download.
# A destroy may use nothing but the state; which program it runs does not stand there, but comes from the caller's
# TF_VAR_python, as `var.python` does.

terraform {
  required_version = ">= 1.5"
  backend "local" {}
}

locals {
  # provider.py, and so the SSH server of a connection, is called with the interpreter that Terraform was given.
  program = [var.python, "-ES", "${abspath(path.module)}/provider.py"]

  names   = sort(keys(var.hosts))
  network = try(jsondecode(file(terraform_data.network.output.record)).prefix, null)
  hosts = { for index, name in local.names : name => merge(var.hosts[name], {
    instance = "orch-${var.run_id}-${name}"
    # null when the claim is gone (deleted by hand, say): destroy must still work
    address = try("${local.network}.${index + 10}", null)
  }) }

  # Without the comment: known_hosts lines and keys compare by type and key alone.
  host_public_keys = { for name in local.names : name => try(join(" ", slice(split(" ", trimspace(var.host_keys[name].public_key)), 0, 2)), "") }

  linked_zones = [for link in var.links : join(" ", sort([link.from_zone, link.to_zone]))]
  zone_pairs = distinct(flatten([for a in values(var.hosts) : [for b in values(var.hosts) :
  join(" ", sort([a.zone, b.zone])) if a.zone != b.zone]]))
  unlinked_zones = setsubtract(local.zone_pairs, local.linked_zones)

  # Namespaces do not survive a reboot. Where there is no such file, provider.py says that the lab needs Linux.
  boot_id = try(trimspace(file("/proc/sys/kernel/random/boot_id")), "none")
}

resource "terraform_data" "network" {
  input = {
    run_id = var.run_id
    record = "/var/lib/orch-lab/${var.run_id}/network.json"
  }
  triggers_replace = [var.run_id, local.boot_id]

  lifecycle {
    precondition {
      condition     = length(local.unlinked_zones) == 0
      error_message = "links gives no distance between: ${join(", ", [for pair in local.unlinked_zones : replace(pair, " ", " and ")])}."
    }
    precondition {
      condition     = alltrue([for host in values(var.hosts) : contains(keys(local.machines), host.machine)])
      error_message = "The lab does not know machine ${join(", ", distinct([for host in values(var.hosts) : host.machine if !contains(keys(local.machines), host.machine)]))}. Known: ${join(", ", keys(local.machines))}."
    }
    precondition {
      condition     = alltrue([for name in local.names : contains(keys(var.host_keys), name)])
      error_message = "host_keys has no key for: ${join(", ", setsubtract(local.names, keys(var.host_keys)))}."
    }
  }

  provisioner "local-exec" {
    interpreter = [var.python, "-ES", "${path.module}/provider.py", "network-up", "--run-id"]
    command     = self.input.run_id
  }
  provisioner "local-exec" {
    when        = destroy
    interpreter = ["/bin/sh", "-c", "exec \"$${TF_VAR_python:-python3}\" -ES \"$0\" \"$@\"", "${path.module}/provider.py", "network-down", "--run-id"]
    command     = self.input.run_id
  }
}

resource "terraform_data" "host" {
  for_each = var.hosts
  input = {
    run_id = var.run_id
    name   = each.key
    spec = jsonencode({
      run_id         = var.run_id
      name           = each.key
      zone           = each.value.zone
      machine        = each.value.machine
      cpu_cores      = try(local.machines[each.value.machine].cpu_cores, null)
      memory_mib     = try(local.machines[each.value.machine].memory_mib, null)
      ttl_seconds    = var.ttl_seconds
      ssh_public_key = var.ssh_public_key
      host_key_path  = try(var.host_keys[each.key].private_key_path, "")
    })
  }
  # The public half stands for the host key: a new pair at the old path makes a new host.
  triggers_replace = [terraform_data.network.id, each.value, var.ttl_seconds, var.ssh_public_key, try(var.host_keys[each.key], null)]

  provisioner "local-exec" {
    interpreter = [var.python, "-ES", "${path.module}/provider.py"]
    command     = "host-up"
    environment = { ORCH_LAB_SPEC = self.input.spec }
  }
  provisioner "local-exec" {
    when        = destroy
    interpreter = ["/bin/sh", "-c", "exec \"$${TF_VAR_python:-python3}\" -ES \"$0\" \"$@\"", "${path.module}/provider.py", "host-down", "--run-id", self.input.run_id, "--host"]
    command     = self.input.name
  }
}

resource "terraform_data" "link" {
  input = {
    run_id = var.run_id
    record = "/var/lib/orch-lab/${var.run_id}/link/link.json"
    spec = jsonencode({
      run_id = var.run_id
      kind   = var.link_kind
      hosts  = { for name, host in local.hosts : name => { address = host.address, zone = host.zone, role = host.role } }
      links  = var.links
    })
  }
  triggers_replace = [var.links, var.link_kind, [for name in local.names : terraform_data.host[name].id]]

  provisioner "local-exec" {
    interpreter = [var.python, "-ES", "${path.module}/provider.py"]
    command     = "link-up"
    environment = { ORCH_LAB_SPEC = self.input.spec }
  }
  provisioner "local-exec" {
    when        = destroy
    interpreter = ["/bin/sh", "-c", "exec \"$${TF_VAR_python:-python3}\" -ES \"$0\" \"$@\"", "${path.module}/provider.py", "link-down", "--run-id"]
    command     = self.input.run_id
  }
}
