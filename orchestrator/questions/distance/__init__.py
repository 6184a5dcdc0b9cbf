"""What the links between hosts were."""
