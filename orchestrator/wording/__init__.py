"""Findings as English: the only part that makes sentences about a result."""
