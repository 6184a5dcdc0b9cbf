"""How many round trips requests take, and what the links between hosts were."""
