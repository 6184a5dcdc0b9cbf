"""Which stack is best by each criterion, and what stacks are like."""
