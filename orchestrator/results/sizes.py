"""The greatest size in bytes of what another program writes, or a reader of a page has to hold."""

from __future__ import annotations

JOURNAL_LINE = 1 << 24  # both ends may print lines of 1 MiB
RECORD = 4 << 30
TURN = 1 << 26  # what a load generator may print
SUMMARY = 1 << 28
REPORT = 1 << 27  # an HTML file
DATASET_ROWS = 400_000  # of the samples inside a report: twice what it is to hold, as each trial has some
