"""The bounds of every module of `infra/` on its input, which `orch plan` checks before Terraform does.

The same rules are in `infra/*/variables.tf`; tests/infra/test_host_rules.py gives both the same values at each bound.
"""

from __future__ import annotations

import ipaddress
import re

ZONE_PATTERN = r"^[a-z][a-z0-9-]*-[a-z]$"
MOST_HOSTS = 64
MOST_TTL_S = 604_800  # a week, in whole seconds from 1 on
MOST_RTT_S = 10.0
MOST_INITIAL_WINDOW = 40  # segments: beyond it the window that Linux receives with is the smaller one

# One range of addresses, its prefix length written plainly (RFC 4632). More addresses than that are no controller:
# 0.0.0.0/1 and its other half are the internet, and so are the IPv6 addresses that represent those of IPv4.
CONTROLLER_PATTERNS = (
    r"^[0-9.]+/([89]|[12][0-9]|3[0-2])$",
    r"^[23fF][0-9a-fA-F]{3}:[0-9a-fA-F:]*/(3[2-9]|[4-9][0-9]|1[01][0-9]|12[0-8])$",
)


def controller_refusal(cidr: str) -> str | None:
    """Why an address range may not reach the hosts' SSH, to follow its name; None when it may."""
    try:
        ipaddress.ip_network(cidr, strict=False)
    except ValueError:
        return "is not an address with its prefix length, such as 203.0.113.7/32"
    if not any(re.fullmatch(pattern, cidr) for pattern in CONTROLLER_PATTERNS):
        return "is too wide for a controller: use at most a /8 of IPv4, or a /32 of IPv6"
    return None
