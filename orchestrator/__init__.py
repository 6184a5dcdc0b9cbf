"""The `orch` program: from an experiment file to a report that a sceptic can check."""

__version__ = "0.1.0"
