"""What misleading timing rules would publish, and which checks fail for it (docs/timing-rules.md)."""
