"""Processes on this machine."""
