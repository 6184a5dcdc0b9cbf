"""Published tables beside our own: runs that are made again by a command, their summaries, and the page made from them."""
