"""How much of a latency is the client library's."""
