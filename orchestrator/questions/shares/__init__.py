"""How much of the spread between cells belongs to protocol and languages."""
