"""From YAML to a validated experiment, its matrix of cells, and a schedule of blocks; touches no host."""
