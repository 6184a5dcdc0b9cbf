"""What became of the events of a stream."""
