"""Hosts that are made: Terraform, Ansible, and what must come down."""
