# What a machine type may use. Cores are what the shared-core types may use for as long as they like: the real ones
# burst beyond it for a while, the lab does not. Sizes from Google's list of machine types.

locals {
  machines = {
    lab           = { cpu_cores = null, memory_mib = null } # this machine, unlimited
    f1-micro      = { cpu_cores = 0.2, memory_mib = 614 }
    e2-micro      = { cpu_cores = 0.25, memory_mib = 1024 }
    e2-small      = { cpu_cores = 0.5, memory_mib = 2048 }
    e2-medium     = { cpu_cores = 1, memory_mib = 4096 }
    e2-standard-2 = { cpu_cores = 2, memory_mib = 8192 }
  }
}
