"""The verbs of `orch runs`: what is known of the runs that are here, and of those that a team shares."""
