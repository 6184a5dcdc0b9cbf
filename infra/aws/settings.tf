# What only this provider has; set through TF_VAR_<name>.

variable "account" {
  description = "The account that pays, 12 digits. Hosts are made and destroyed in no other one."
  type        = string
  default     = ""
  nullable    = false

  validation {
    condition     = can(regex("^[0-9]{12}$", var.account))
    error_message = "account is the 12 digits of an AWS account: export TF_VAR_account=123456789012, and have credentials for it."
  }
}

variable "image" {
  description = "How the boot image's name begins; an architecture follows. Debian 12 or newer, with cloud-init."
  type        = string
  default     = "debian-12"
  nullable    = false
}

variable "image_owner" {
  description = "The account that publishes the image: Debian's."
  type        = string
  default     = "136693071363"
  nullable    = false
}

variable "disk_gb" {
  description = "The size of the boot disk."
  type        = number
  default     = 10
  nullable    = false
}

variable "ssh_user" {
  description = "The account that cloud-init makes; it may sudo."
  type        = string
  default     = "orch"
  nullable    = false
}

variable "cpu_credits" {
  description = "What a T machine does beyond its share of a core: standard waits, unlimited costs more."
  type        = string
  default     = "standard"
  nullable    = false

  validation {
    condition     = contains(["standard", "unlimited"], var.cpu_credits)
    error_message = "cpu_credits is standard or unlimited."
  }
}
