"""Runs along an axis: several placements, sizes, rates, numbers in flight and the like."""
