"""Runs that leave this machine for a team: an index in a database and a dataset of samples."""
