"""Whether the stacks of a run do the same work: what they answered alike before anything was measured."""
