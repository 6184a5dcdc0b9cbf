"""Checks of how latencies lie and change."""
