"""What timing rules that mislead would publish, and which checks find them out (`docs/timing-rules.md`).

The only readers of rows of kind `misleading`. What they find stands in `RunSummary.timing_rules` and nowhere else.
"""
