"""What is asked: pure functions that know no protocol."""
