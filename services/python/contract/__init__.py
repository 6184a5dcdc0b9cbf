"""What crosses the line between a program and its parent, and what the programs offer."""
