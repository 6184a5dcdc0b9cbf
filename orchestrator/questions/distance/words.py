"""How a link differed from the configured one."""

from __future__ import annotations

from orchestrator import quantities
from orchestrator.questions.distance.find import Delivered


def clause(link: Delivered) -> str:
    """Return how a link differed from the configured one, as a clause; empty where it did not."""
    wanted = quantities.percent(1 - (1 - link.loss) ** 2)  # there and back
    texts = {
        "no ping": "no ping was answered, so its round trip is not known",
        "round trip": f"a round trip of {quantities.ms(link.measured or 0)} in place of {quantities.ms(link.wanted or 0)}",
        "loss": f"{quantities.percent(link.lost or 0)} of pings lost in place of {wanted}",
    }
    return "; ".join(texts[deviation] for deviation in link.why_not)
