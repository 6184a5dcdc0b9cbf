"""Which stack's latencies spread least."""
