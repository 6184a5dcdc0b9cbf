"""Runs that leave this machine for a team: an index in PostgreSQL and a dataset of samples."""
