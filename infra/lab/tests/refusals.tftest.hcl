# What the module refuses, and what it promises before anything is made. Needs neither root nor Linux.

variables {
  run_id         = "tfplan"
  ttl_seconds    = 60
  ssh_public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJx3cF0wJ0h9y2m5mE0y3m0bYx3X6v0c0r1Xn8h1l2aB someone"
  hosts = {
    requester = { role = "requester", zone = "us-west1-a", machine = "f1-micro" }
    responder = { role = "responder", zone = "us-central1-a", machine = "lab" }
  }
  host_keys = {
    requester = { private_key_path = "/nowhere/a", public_key = "ssh-ed25519 AAAA1 made for a test" }
    responder = { private_key_path = "/nowhere/b", public_key = "ssh-ed25519 AAAA2 made for a test" }
  }
  links = [{ from_zone = "us-central1-a", to_zone = "us-west1-a", rtt_ms = 35 }]
}

run "plans_what_was_asked_for" {
  command = plan

  assert {
    condition     = output.hosts["requester"].zone == "us-west1-a" && output.hosts["responder"].role == "responder"
    error_message = "hosts come back with their zone and role"
  }
  assert {
    condition     = output.hosts["requester"].ssh.known_hosts == "orch-tfplan-requester ssh-ed25519 AAAA1"
    error_message = "the known_hosts line is the alias and the key, without its comment"
  }
  assert {
    condition     = jsondecode(terraform_data.host["requester"].input.spec).cpu_cores == 0.2
    error_message = "an f1-micro has a fifth of a core"
  }
  assert {
    condition     = jsondecode(terraform_data.host["responder"].input.spec).memory_mib == null
    error_message = "machine lab is unlimited"
  }
  assert {
    condition     = output.hosts["requester"].ssh.proxy_command != null && output.hosts["requester"].ssh.sudo == false
    error_message = "a lab host is reached through a proxy command, as root"
  }
}

run "refuses_a_run_id_with_a_hyphen" {
  command = plan
  variables { run_id = "a-b" }
  expect_failures = [var.run_id]
}

run "refuses_a_host_named_like_the_link" {
  command = plan
  variables { hosts = { link = { role = "both", zone = "us-west1-a", machine = "lab" } } }
  expect_failures = [var.hosts]
}

run "refuses_an_unknown_role" {
  command = plan
  variables { hosts = { requester = { role = "server", zone = "us-west1-a", machine = "lab" } } }
  expect_failures = [var.hosts]
}

run "refuses_an_unknown_machine" {
  command = plan
  variables { hosts = { requester = { role = "requester", zone = "us-west1-a", machine = "f2-micro" } } }
  expect_failures = [terraform_data.network]
}

run "refuses_two_zones_without_a_distance" {
  command = plan
  variables { links = [] }
  expect_failures = [terraform_data.network]
}

run "refuses_a_host_without_a_key" {
  command = plan
  variables { host_keys = {} }
  expect_failures = [terraform_data.network]
}

run "refuses_a_pair_of_zones_twice" {
  command = plan
  variables {
    links = [
      { from_zone = "us-central1-a", to_zone = "us-west1-a", rtt_ms = 35 },
      { from_zone = "us-west1-a", to_zone = "us-central1-a", rtt_ms = 36 },
    ]
  }
  expect_failures = [var.links]
}

run "refuses_more_jitter_than_distance" {
  command = plan
  variables { links = [{ from_zone = "us-central1-a", to_zone = "us-west1-a", rtt_ms = 1, jitter_ms = 2 }] }
  expect_failures = [var.links]
}

run "refuses_to_lose_everything" {
  command = plan
  variables { links = [{ from_zone = "us-central1-a", to_zone = "us-west1-a", rtt_ms = 1, loss = 1 }] }
  expect_failures = [var.links]
}

run "refuses_the_whole_internet_as_controller" {
  command = plan
  variables { controller_cidr = "0.0.0.0/0" }
  expect_failures = [var.controller_cidr]
}

run "refuses_a_host_that_never_expires" {
  command = plan
  variables { ttl_seconds = 0 }
  expect_failures = [var.ttl_seconds]
}

run "refuses_a_label_of_ours" {
  command = plan
  variables { labels = { app = "mine" } }
  expect_failures = [var.labels]
}
