# The one input of every module under infra/: this file is the same, byte for byte, in each of them.

variable "run_id" {
  description = "Names everything that is made: orch-<run_id>-<host>."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z0-9]{1,20}$", var.run_id))
    error_message = "run_id is 1 to 20 characters of a-z and 0-9 (no hyphen: it separates the parts of a name)."
  }
}

variable "hosts" {
  description = "The machines to make, by name."
  nullable    = false
  type = map(object({
    role    = string
    zone    = string
    machine = string
  }))

  validation {
    condition     = length(var.hosts) >= 1 && length(var.hosts) <= 64
    error_message = "hosts holds 1 to 64 machines."
  }
  validation {
    condition     = alltrue([for name in keys(var.hosts) : can(regex("^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$", name)) && name != "link"])
    error_message = "A host's name is 1 to 20 characters of a-z, 0-9 and hyphen, begins with a letter, does not end with a hyphen, and is not \"link\"."
  }
  validation {
    condition     = alltrue([for host in values(var.hosts) : contains(["requester", "responder", "both", "store"], host.role)])
    error_message = "A host's role is requester, responder, both or store."
  }
  validation {
    condition     = alltrue([for host in values(var.hosts) : can(regex("^[a-z][a-z0-9-]*[-0-9][a-z]$", host.zone))])
    error_message = "A host's zone is a region and a letter, such as us-central1-a or us-east-1a."
  }
}

variable "ttl_seconds" {
  description = "After so many seconds a host ends itself, even if it is in use."
  type        = number
  nullable    = false

  validation {
    condition     = var.ttl_seconds >= 1 && var.ttl_seconds <= 604800 && floor(var.ttl_seconds) == var.ttl_seconds
    error_message = "ttl_seconds is a whole number from 1 to 604800 (a week)."
  }
}

variable "ssh_public_key" {
  description = "Who may log in: one line as in an OpenSSH .pub file."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^ssh-ed25519 [A-Za-z0-9+/=]+( [^\n]*)?$", trimspace(var.ssh_public_key)))
    error_message = "ssh_public_key is one line: ssh-ed25519, the key, a comment."
  }
}

variable "host_keys" {
  description = "The SSH host key that each host has from birth, made by the controller, so that the first connection is verified too."
  nullable    = false
  type = map(object({
    private_key_path = string
    public_key       = string
  }))

  validation {
    condition     = alltrue([for key in values(var.host_keys) : can(regex("^ssh-ed25519 [A-Za-z0-9+/=]+( [^\n]*)?$", trimspace(key.public_key)))])
    error_message = "host_keys: public_key is one line: ssh-ed25519, the key, a comment."
  }
}

variable "links" {
  description = "The wanted distance between zones. A provider whose network decides the distance itself ignores it."
  default     = []
  nullable    = false
  type = list(object({
    from_zone = string
    to_zone   = string
    rtt_ms    = number
    jitter_ms = optional(number)
    rate_mbit = optional(number)
    loss      = optional(number)
    # Segments, TCP's initial congestion window in both directions.
    initial_window = optional(number)
  }))

  validation {
    condition     = alltrue([for link in var.links : link.rtt_ms >= 0 && link.rtt_ms <= 10000])
    error_message = "links: rtt_ms is 0 to 10000."
  }
  validation {
    condition     = alltrue([for link in var.links : coalesce(link.jitter_ms, 0) >= 0 && coalesce(link.jitter_ms, 0) <= link.rtt_ms])
    error_message = "links: jitter_ms is 0 to rtt_ms."
  }
  validation {
    condition     = alltrue([for link in var.links : coalesce(link.rate_mbit, 1) > 0])
    error_message = "links: rate_mbit is greater than 0."
  }
  validation {
    condition     = alltrue([for link in var.links : coalesce(link.loss, 0) >= 0 && coalesce(link.loss, 0) < 1])
    error_message = "links: loss is a share of the packets, 0 or more and less than 1."
  }
  validation {
    condition     = alltrue([for link in var.links : coalesce(link.initial_window, 1) >= 1 && coalesce(link.initial_window, 1) <= 40 && floor(coalesce(link.initial_window, 1)) == coalesce(link.initial_window, 1)])
    error_message = "links: initial_window is a whole number of segments from 1 to 40."
  }
  validation {
    condition     = length(distinct([for link in var.links : join(" ", sort([link.from_zone, link.to_zone]))])) == length(var.links)
    error_message = "links names a pair of zones twice (a link counts in both directions)."
  }
}

variable "controller_cidr" {
  description = "The only addresses that may reach SSH, such as 203.0.113.7/32. A provider that opens no port ignores it."
  type        = string
  default     = null

  validation {
    condition     = var.controller_cidr == null || can(cidrhost(regex("^[0-9.]+/(?:1[6-9]|2[0-9]|3[0-2])$", var.controller_cidr), 0))
    error_message = "controller_cidr is a range of IPv4 addresses, at most a /16, such as 203.0.113.7/32."
  }
}

variable "labels" {
  description = "Written on everything that can carry labels, beside app = orch and orch-run = run_id."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition = alltrue([for key, value in var.labels :
    can(regex("^[a-z][a-z0-9_-]{0,62}$", key)) && can(regex("^[a-z0-9_-]{0,63}$", value)) && !contains(["app", "orch-run", "role"], key)])
    error_message = "labels: keys and values are up to 63 characters of a-z, 0-9, _ and -; keys begin with a letter; app, orch-run and role are taken."
  }
}
