"""Bounds of the modules of `infra/` on their input, which `orch plan` checks before Terraform does."""

from __future__ import annotations

ZONE_PATTERN = r"^[a-z][a-z0-9-]*[-0-9][a-z]$"
HOST_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"  # of a host that the experiment gives, as inventories name them
MOST_HOSTS = 64
MOST_TTL_S = 604_800  # a week, in whole seconds from 1 on
MOST_RTT_S = 10.0
MOST_INITIAL_WINDOW = 40  # segments: beyond it the window that Linux receives with is the smaller one
