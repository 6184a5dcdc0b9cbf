"""Hosts out of namespaces on one Linux machine, and the distance between them."""
