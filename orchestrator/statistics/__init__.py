"""Numbers in, numbers out: quantiles, intervals, equivalence."""
