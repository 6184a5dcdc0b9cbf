"""What each check finds and how often it is wrong: `python -m benchmarks.checks --write` writes docs/reference/checks.md.

`realistic` makes clean runs with the noise that real ones have, `faults` is the registry of graded errors, `power` finds
the smallest one that a check finds nine times in ten, `alarms` counts what it says of clean runs, synthetic and real,
and `table` puts the stored results into the document.
"""
