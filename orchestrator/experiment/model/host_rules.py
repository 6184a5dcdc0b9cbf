"""Bounds of the modules of `infra/` on their input, which `orch plan` checks before Terraform does."""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress

ZONE_PATTERN = r"^[a-z][a-z0-9-]*[-0-9][a-z]$"
HOST_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"  # of a host that the experiment gives, as inventories name them
MOST_HOSTS = 64
MOST_TTL_S = 604_800  # a week, in whole seconds from 1 on
MOST_RTT_S = 10.0
MOST_INITIAL_WINDOW = 40  # segments: beyond it the window that Linux receives with is the smaller one

CONTROLLER_PATTERN = r"^[0-9.]+/(?:1[6-9]|2[0-9]|3[0-2])$"  # RFC 4632; more than a /16 is no controller


def controller_refusal(cidr: str) -> str | None:
    """Return why an address range may not reach the hosts' SSH, to follow its name; None when it may."""
    with suppress(ValueError):
        ipaddress.ip_network(cidr, strict=False)
        if re.fullmatch(CONTROLLER_PATTERN, cidr):
            return None
    return "is not a range of IPv4 addresses, at most a /16, such as 203.0.113.7/32"
