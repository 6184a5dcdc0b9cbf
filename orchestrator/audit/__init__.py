"""Examines figures that others published: supported, contradicted, impossible, or undetermined from what is given."""
