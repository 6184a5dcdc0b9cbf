"""What a run shows, as typed values: cells, comparisons, rankings."""
