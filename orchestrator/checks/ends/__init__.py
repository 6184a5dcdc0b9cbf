"""Checks of requesters and responders."""
