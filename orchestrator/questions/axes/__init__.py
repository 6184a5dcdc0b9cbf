"""What a run shows along a numeric axis: lines, differences and where they cross."""
