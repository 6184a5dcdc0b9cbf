"""Checks of the network, its clocks and connections."""
