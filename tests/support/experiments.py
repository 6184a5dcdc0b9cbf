"""The shortest experiment there is, to be extended line by line."""

MINIMAL = """\
name: example
question: Which is quicker?
stacks: [rest, grpc]
operations: timestamp
"""
