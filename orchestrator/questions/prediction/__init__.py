"""The cost model: what a request takes at any distance and size, fitted to a run's cells and tested on sealed ones.

`docs/explanation/statistics.md` has the formula with its sources. `shapes` are all that others read.
"""
