"""Timing rules that mislead, applied to the requests of a trial beside the true rule (`docs/how-to/examine-figures.md`).

Nothing here is imported unless a trial has the knob `timing_rules`, and nothing here writes a sample: what a rule says of a
request is a row of kind `misleading` (protos/timings.md), which no statistic of latencies reads.
"""
