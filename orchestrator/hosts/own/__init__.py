"""Machines of the person's own: found over SSH as they are, used for a run, and left as they were."""
