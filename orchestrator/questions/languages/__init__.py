"""Whether the language of an end matters more than the protocol."""
