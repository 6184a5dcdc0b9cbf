# Compute Engine instances that end themselves, reachable by SSH from the controller only.

terraform {
  required_version = ">= 1.5"
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 7.0"
    }
  }
  backend "local" {}
}

provider "google" {
  project                 = local.project
  compute_custom_endpoint = local.compute_endpoint
}

locals {
  prefix  = "orch-${var.run_id}"
  labels  = merge(var.labels, { app = "orch", orch-run = var.run_id })
  region  = { for name, host in var.hosts : name => regex("^(.*)-[a-z]$", host.zone)[0] }
  regions = sort(distinct(values(local.region)))
  # Without the comment: known_hosts lines and keys compare by type and key alone.
  host_public_keys = { for name, key in var.host_keys : name => join(" ", slice(split(" ", trimspace(key.public_key)), 0, 2)) }
}

# Networks, subnets and firewall rules cannot carry labels; their names and descriptions say whose they are.
resource "google_compute_network" "run" {
  name                    = local.prefix
  description             = "app=orch orch-run=${var.run_id}"
  auto_create_subnetworks = false
  mtu                     = 1460

  lifecycle {
    precondition {
      condition     = var.controller_cidr != null
      error_message = "controller_cidr is needed: the address that may reach SSH, such as 203.0.113.7/32."
    }
    precondition {
      condition     = var.ttl_seconds >= 30
      error_message = "ttl_seconds is at least 30: Compute Engine accepts no shorter max_run_duration."
    }
    precondition {
      condition     = alltrue([for name in keys(var.hosts) : contains(keys(var.host_keys), name)])
      error_message = "host_keys has no key for: ${join(", ", setsubtract(keys(var.hosts), keys(var.host_keys)))}."
    }
  }

  timeouts {
    create = "5m"
    update = "5m"
    delete = "5m"
  }
}

resource "google_compute_subnetwork" "region" {
  for_each      = toset(local.regions)
  name          = "${local.prefix}-${each.key}"
  description   = "app=orch orch-run=${var.run_id}"
  region        = each.key
  network       = google_compute_network.run.id
  ip_cidr_range = cidrsubnet("10.130.0.0/16", 8, index(local.regions, each.key))

  timeouts {
    create = "5m"
    update = "5m"
    delete = "5m"
  }
}

resource "google_compute_firewall" "ssh" {
  name          = "${local.prefix}-ssh"
  description   = "app=orch orch-run=${var.run_id}: SSH from the controller"
  network       = google_compute_network.run.id
  direction     = "INGRESS"
  source_ranges = compact([var.controller_cidr])
  target_tags   = [local.prefix]

  allow {
    protocol = "tcp"
    ports    = ["22"]
  }

  timeouts {
    create = "5m"
    update = "5m"
    delete = "5m"
  }
}

resource "google_compute_firewall" "internal" {
  name        = "${local.prefix}-internal"
  description = "app=orch orch-run=${var.run_id}: anything between the run's own hosts"
  network     = google_compute_network.run.id
  direction   = "INGRESS"
  source_tags = [local.prefix]
  target_tags = [local.prefix]

  allow { protocol = "tcp" }
  allow { protocol = "udp" }
  allow { protocol = "icmp" }

  timeouts {
    create = "5m"
    update = "5m"
    delete = "5m"
  }
}

# Goes with the instances, by a destroy only: a profile of OS Login is no part of the project.
resource "google_os_login_ssh_public_key" "controller" {
  count = local.os_login == null ? 0 : 1
  user  = local.os_login
  key   = trimspace(var.ssh_public_key)

  timeouts {
    create = "5m"
    update = "5m"
    delete = "5m"
  }
}

resource "google_compute_instance" "host" {
  for_each     = var.hosts
  name         = "${local.prefix}-${each.key}"
  description  = "app=orch orch-run=${var.run_id}"
  zone         = each.value.zone
  machine_type = each.value.machine
  labels       = merge(local.labels, { role = each.value.role })
  tags         = [local.prefix]

  boot_disk {
    auto_delete = true
    initialize_params {
      image  = local.family[each.key] == "t2a" ? var.arm_image : var.image
      size   = var.disk_gb
      type   = lookup(local.disk_types, local.family[each.key], "pd-standard")
      labels = local.labels
    }
  }

  network_interface {
    subnetwork = google_compute_subnetwork.region[local.region[each.key]].id
    dynamic "access_config" { # a public address, for SSH
      for_each = local.through_iap ? [] : [1]
      content {}
    }
  }

  metadata = {
    ssh-keys               = local.os_login == null ? "${local.ssh_user}:${trimspace(var.ssh_public_key)}" : ""
    block-project-ssh-keys = "TRUE"
    enable-oslogin         = local.os_login == null ? "FALSE" : "TRUE"
    serial-port-enable     = "FALSE"
    orch-host-key          = sensitive(file(var.host_keys[each.key].private_key_path))
    startup-script         = file("${path.module}/startup.sh")
  }

  # No service account: nothing on the host may call Google's APIs. (No block means none.)

  shielded_instance_config {
    enable_secure_boot          = local.family[each.key] != "t2a"
    enable_vtpm                 = true
    enable_integrity_monitoring = true
  }

  # The cloud itself deletes the instance when its time is over, whether or not anybody remembers it. The timer runs only
  # while the instance does: one that maintenance or a failing host has merely stopped would stay for ever. So it moves
  # (E2 machines can do nothing else), and is started again; a restart starts the timer anew.
  scheduling {
    provisioning_model          = "STANDARD"
    automatic_restart           = true
    on_host_maintenance         = "MIGRATE"
    instance_termination_action = "DELETE"
    max_run_duration {
      seconds = var.ttl_seconds
    }
  }

  timeouts {
    create = "5m"
    update = "5m"
    delete = "5m"
  }

  depends_on = [google_compute_firewall.ssh, google_compute_firewall.internal, google_os_login_ssh_public_key.controller]
}
