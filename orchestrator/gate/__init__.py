"""The gate: whether a change made a service slower, in one call that builds, measures, and measures an alarm again."""
