"""How many requests a second a stack carries while goals hold: searches for the highest such rate."""
