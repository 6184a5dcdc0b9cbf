"""How bytes travel, for all protocols that share the way."""
