"""Where the handling time of requests to a store goes."""
