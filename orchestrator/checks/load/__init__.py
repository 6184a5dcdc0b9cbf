"""Checks of the load that was offered."""
