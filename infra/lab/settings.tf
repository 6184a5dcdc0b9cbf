# What only this provider has; set through TF_VAR_<name>.

variable "python" {
  description = "The interpreter for provider.py: Python 3.11 or newer."
  type        = string
  default     = "python3"
  nullable    = false
}

variable "link_kind" {
  description = "How distance is made: auto takes netem where the kernel has it."
  type        = string
  default     = "auto"
  nullable    = false

  validation {
    condition     = contains(["auto", "netem", "user-space"], var.link_kind)
    error_message = "link_kind is auto, netem or user-space."
  }
}
