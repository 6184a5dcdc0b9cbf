"""What is a person's own: services and their calls, hosts, JSON."""
