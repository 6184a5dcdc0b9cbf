"""Calls of services of the person's own: what a plan resolves of them."""
