"""Everything that knows a host: this machine, and hosts made by Terraform and reached over SSH."""
