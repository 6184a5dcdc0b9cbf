"""When a run ends that measures until its intervals are narrow enough."""
