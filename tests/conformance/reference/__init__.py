"""Both ends of the wire, written from the prose in `protos/` and the standard library: what a suite can ask and answer."""
