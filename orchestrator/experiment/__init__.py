"""From a YAML file to a plan: `read`, `model`, `plan`."""
