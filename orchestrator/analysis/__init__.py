"""Statistics and checks: pure functions over samples, and the frozen summary that reports read."""
