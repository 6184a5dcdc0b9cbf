# What only this provider has; set through TF_VAR_<name>. A variable of the environment is always text: it can be empty,
# which counts as null here, but it cannot be null, and the word "null" is a value like any other.

locals {
  project          = var.project == "" ? null : var.project
  compute_endpoint = var.compute_endpoint == "" ? null : var.compute_endpoint
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

variable "compute_endpoint" {
  description = "Another address of the Compute API, for tests; null is Google's."
  type        = string
  default     = null

  validation {
    condition     = var.compute_endpoint == null || var.compute_endpoint == "" || can(regex("^https?://[^ ]+/$", var.compute_endpoint))
    error_message = "compute_endpoint is an address that ends with a slash, such as https://compute.googleapis.com/compute/v1/."
  }
}
