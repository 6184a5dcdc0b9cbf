"""Where more load brings no more replies."""
