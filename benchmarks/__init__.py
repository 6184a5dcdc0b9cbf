"""Speed, as ratios measured in one run; every command prints the load of the machine beside its numbers."""
