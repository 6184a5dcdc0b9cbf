"""Which hosts a plan needs."""

from __future__ import annotations

from orchestrator.experiment.plan.plan import Cell, Limits, Link, Placement, Plan
from orchestrator.experiment.plan.topology import topology
from services.python.contract.lines import Load, Warmup

LOCAL = Placement(id="local", name="local", kind="local")
SAME = Placement(id="same", name="same-zone", kind="same-zone", link=Link(rtt_ms=1.5))
FAR = Placement(
    id="far", name="far", kind="cross-region", from_zone="us-central1-a", to_zone="us-west1-a", link=Link(rtt_ms=35.0)
)


def asking_from(requesters: int) -> Cell:
    """A cell of which only the number of hosts counts here."""
    return Cell(
        id="c",
        stack="s",
        operation="o",
        placement="p",
        factors={"requesters": requesters},
        load=Load(),
        warmup=Warmup(),
    )


def plan(*placements: Placement, requesters: int = 1, makes_stores: bool = False) -> Plan:
    return Plan(
        name="t",
        question="?",
        provider="lab",
        machine="f1-micro",
        pin="apart",
        stacks=(),
        operations=(),
        placements=placements,
        cells=(asking_from(requesters),),
        trials=(),
        repeats=1,
        seed=1,
        limits=Limits(wall_s=60, cost_usd=0, ttl_s=60),
        makes_stores=makes_stores,
    )


def test_three_placements_share_one_responder() -> None:
    made = topology(plan(LOCAL, SAME, FAR))
    assert [(h.name, h.role, h.zone) for h in made.hosts] == [
        ("responder-1", "both", "us-west1-a"),
        ("requester-1", "requester", "us-west1-a"),
        ("requester-2", "requester", "us-central1-a"),
    ]
    assert made.ends["local"].requesters == ("responder-1",)
    assert made.ends["same"].requesters == ("requester-1",)
    assert made.ends["far"].requesters == ("requester-2",)
    assert {e.responder for e in made.ends.values()} == {"responder-1"}


def test_every_pair_of_ends_has_its_link() -> None:
    links = {w.zones: w.link.rtt_ms for w in topology(plan(SAME, FAR)).links}
    assert links == {("us-west1-a", "us-west1-a"): 1.5, ("us-central1-a", "us-west1-a"): 35.0}


def test_a_database_stands_in_each_zone_that_answers() -> None:
    back = Placement(id="back", name="back", kind="cross-region", from_zone="us-west1-a", to_zone="us-central1-a")
    made = topology(plan(LOCAL, SAME, FAR, back, makes_stores=True))
    assert [(h.name, h.zone) for h in made.hosts if h.role == "store"] == [
        ("store-1", "us-west1-a"),
        ("store-2", "us-central1-a"),
    ]
    stores = {placement: ends.store for placement, ends in made.ends.items()}
    assert stores == {"local": "store-1", "same": "store-1", "far": "store-1", "back": "store-2"}
    without = topology(plan(LOCAL, SAME, FAR, back))
    assert [h for h in made.hosts if h.role != "store"] == list(without.hosts)
    assert {ends.store for ends in without.ends.values()} == {None}
