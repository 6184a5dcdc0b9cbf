"""How a message becomes bytes, and bytes a message."""
