"""What the protocols carried by HTTP share: clients, and the ASGI server's one configuration."""
