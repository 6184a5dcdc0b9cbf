"""The operations of a mix, each by itself."""
