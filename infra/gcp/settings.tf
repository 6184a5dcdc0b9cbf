# What only this provider has; set through TF_VAR_<name>. A variable of the environment is always text: it can be empty,
# which counts as null here, but it cannot be null, and the word "null" is a value like any other.

locals {
  project          = var.project == "" ? null : var.project
  compute_endpoint = var.compute_endpoint == "" ? null : var.compute_endpoint
  os_login         = var.os_login == "" ? null : var.os_login
  # The range that Identity-Aware Proxy connects from: a controller named so reaches the hosts through it, and they have
  # no public address.
  through_iap = var.controller_cidr == "35.235.240.0/20"
  # OS Login makes a user's account of the e-mail address; a service account's is sa_ and its number, in ssh_user.
  ssh_user = local.os_login != null && var.ssh_user == "orch" ? replace(lower(local.os_login), "/[^a-z0-9]/", "_") : var.ssh_user
  # C4 boots from Hyperdisk alone, and C3 from no standard disk; T2A is Arm.
  family     = { for name, host in var.hosts : name => split("-", host.machine)[0] }
  disk_types = { c3 = "pd-balanced", c4 = "hyperdisk-balanced" }
}

variable "project" {
  description = "The project that pays; null takes GOOGLE_PROJECT, GOOGLE_CLOUD_PROJECT, GCLOUD_PROJECT or CLOUDSDK_CORE_PROJECT."
  type        = string
  default     = null

  validation {
    condition     = var.project == null || var.project == "" || can(regex("^([a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project))
    error_message = "project is a project's id: 6 to 30 characters of a-z, 0-9 and hyphen. Leave TF_VAR_project unset, or empty, for the provider's own."
  }
}

variable "image" {
  description = "The boot image, as project/family or project/image: Debian 12 or newer, with curl and /etc/ssh/sshd_config.d."
  type        = string
  default     = "debian-cloud/debian-12"
  nullable    = false
}

variable "arm_image" {
  description = "The same for Arm machine types (T2A)."
  type        = string
  default     = "debian-cloud/debian-12-arm64"
  nullable    = false
}

variable "disk_gb" {
  description = "The size of the boot disk."
  type        = number
  default     = 10
  nullable    = false
}

variable "ssh_user" {
  description = "The account that the guest agent makes; it may sudo."
  type        = string
  default     = "orch"
  nullable    = false
}

variable "os_login" {
  description = "The account (e-mail address) that logs in where an organisation requires OS Login; null makes an account from the instance's metadata."
  type        = string
  default     = null

  validation {
    condition     = var.os_login == null || var.os_login == "" || can(regex("^[^@ ]+@[^@ ]+$", var.os_login))
    error_message = "os_login is an e-mail address, such as ada@example.com."
  }
}

variable "compute_endpoint" {
  description = "Another address of the Compute API, for tests; null is Google's."
  type        = string
  default     = null

  validation {
    condition     = var.compute_endpoint == null || var.compute_endpoint == "" || can(regex("^https?://[^ ]+/$", var.compute_endpoint))
    error_message = "compute_endpoint is an address that ends with a slash, such as https://compute.googleapis.com/compute/v1/."
  }
}
