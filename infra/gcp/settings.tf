# What only this provider has; set through TF_VAR_<name>.

variable "project" {
  description = "The project that pays; null takes GOOGLE_PROJECT or the credentials' own."
  type        = string
  default     = null
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
}
