"""Stalls that a closed loop hides from its percentiles."""
