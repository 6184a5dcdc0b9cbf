"""Checks of replies and their sizes."""
