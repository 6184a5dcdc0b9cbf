"""What the samples of a run show, cell by cell."""
