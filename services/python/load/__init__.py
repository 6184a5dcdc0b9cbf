"""How requests are sent: the loops, their pace, and what is recorded of each request."""
