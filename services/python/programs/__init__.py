"""The programs that are started: `respond`, `request`, `ping`, `describe`."""
