"""From a YAML file to plain values, with positions for every error."""
