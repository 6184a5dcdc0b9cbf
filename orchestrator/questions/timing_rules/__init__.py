"""What misleading timing rules would publish, and which checks fail for it (docs/how-to/examine-figures.md)."""
