"""Services of the person's own while they are measured."""
