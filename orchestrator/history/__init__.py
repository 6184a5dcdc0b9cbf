"""The history of runs: an index over run folders, made again from them at any time, and what people add to runs."""
