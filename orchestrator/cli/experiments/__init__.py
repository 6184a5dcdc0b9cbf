"""The verbs of an experiment: start one, plan it, run it."""
