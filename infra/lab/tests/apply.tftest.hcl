# Makes two hosts on this machine and removes them again. Needs root.

run "keys" {
  module {
    source = "./tests/keys"
  }
}

run "makes_two_hosts" {
  variables {
    run_id         = "tfapply"
    ttl_seconds    = 120
    ssh_public_key = run.keys.public_key
    hosts = {
      requester = { role = "requester", zone = "us-west1-a", machine = "f1-micro" }
      responder = { role = "responder", zone = "us-central1-a", machine = "f1-micro" }
    }
    host_keys = {
      requester = { private_key_path = run.keys.private_key_path, public_key = run.keys.public_key }
      responder = { private_key_path = run.keys.private_key_path, public_key = run.keys.public_key }
    }
    links = [{ from_zone = "us-central1-a", to_zone = "us-west1-a", rtt_ms = 10 }]
  }

  assert {
    condition     = can(regex("^198\\.1[89]\\.[0-9]+\\.10$", output.hosts["requester"].address))
    error_message = "addresses come from 198.18.0.0/15"
  }
  assert {
    condition     = contains(["netem", "user-space"], output.link.kind)
    error_message = "the link says how it is made"
  }
  assert {
    condition     = length(output.link.paths) == 1 && output.link.paths[0].wanted.rtt_ms == 10
    error_message = "the link says what was wanted of it"
  }
}
