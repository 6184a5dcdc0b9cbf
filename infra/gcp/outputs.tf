# The one output of every module under infra/; the shapes are in infra/README.md.

output "hosts" {
  description = "The machines, how to reach them, and how to know them."
  value = { for name, host in google_compute_instance.host : name => {
    role     = var.hosts[name].role
    zone     = host.zone
    machine  = host.machine_type
    instance = host.name
    address  = host.network_interface[0].network_ip
    disk     = host.name
    ssh = {
      user          = local.ssh_user
      sudo          = true
      alias         = host.name
      host_name     = local.through_iap ? host.name : host.network_interface[0].access_config[0].nat_ip
      port          = 22
      proxy_command = local.through_iap ? "gcloud compute start-iap-tunnel ${host.name} 22 --listen-on-stdin --zone=${host.zone} --project=${host.project} --verbosity=error" : null
      known_hosts   = "${host.name}${local.through_iap ? "" : ",${host.network_interface[0].access_config[0].nat_ip}"} ${local.host_public_keys[name]}"
    }
  } }
}

output "link" {
  description = "How distance is made: here by distance."
  value = {
    kind      = "network"
    mtu       = google_compute_network.run.mtu
    scheduler = null
    paths     = []
  }
}
