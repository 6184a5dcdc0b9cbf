"""The contract of `protos/`, held against processes alone; see `promises/`."""
