"""What crosses the line between a program and whoever started it, and what the programs offer."""
