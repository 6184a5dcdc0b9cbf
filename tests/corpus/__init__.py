"""A dozen small real runs, and every number that analysis makes of them."""
