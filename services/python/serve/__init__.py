"""What stands between a protocol's server and the operations."""
