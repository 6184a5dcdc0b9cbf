"""One trial of a requester: `parts` is loaded and checked, `run` measures calls and tasks, `streams` subscriptions."""
