"""What every module of `infra/` asks of its input, for `orch plan` to refuse before Terraform would.

The same rules stand in `infra/*/variables.tf`; tests/infra/test_host_rules.py gives both the same values at each bound.
"""

from __future__ import annotations

import ipaddress

ZONE_PATTERN = r"^[a-z][a-z0-9-]*-[a-z]$"
MOST_HOSTS = 64
MOST_TTL_S = 604_800  # a week, in whole seconds from 1 on
MOST_RTT_S = 10.0

# A network of more addresses than this is no controller: 0.0.0.0/1 and its like are the internet in two parts.
SHORTEST_PREFIX = {4: 8, 6: 32}


def controller_refusal(cidr: str) -> str | None:
    """Why an address range may not reach the hosts' SSH, as a sentence's end; None when it may.

    One range, in CIDR notation (RFC 4632) with the prefix length written plainly.
    """
    address, separator, length = cidr.partition("/")
    if not separator or not length.isdecimal() or not length.isascii() or str(int(length[:4])) != length:
        return "is not an address with its prefix length, such as 203.0.113.7/32"
    try:
        network = ipaddress.ip_network(cidr, strict=False)
    except ValueError:
        return "is not an address with its prefix length, such as 203.0.113.7/32"
    if "%" in address or network.prefixlen < SHORTEST_PREFIX[network.version]:
        return f"is too much of the internet: at most /{SHORTEST_PREFIX[4]} of IPv4, or /{SHORTEST_PREFIX[6]} of IPv6"
    return None
