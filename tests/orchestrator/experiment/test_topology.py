"""Which hosts a plan needs, and lists of distances."""

from __future__ import annotations

from orchestrator.experiment.plan.estimate import hosts_needed
from orchestrator.experiment.plan.plan import Cell, Limits, Link, Placement, Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.topology import topology
from services.python.contract.lines import Load, Warmup
from tests.support.experiments import MINIMAL, Known, Write, problems

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


LAB = MINIMAL + "provider: lab\nmachine: lab\n"
GCP = MINIMAL + "provider: gcp\nmachine: e2-micro\n"


def test_each_value_of_a_list_is_a_placement_of_its_own(write: Write, known: Known) -> None:
    plan = make_plan(write(LAB + "distance: {rtt: [0ms, 1ms, 20ms]}\n"), known=known)
    assert [(p.id, p.kind, p.link.rtt_ms) for p in plan.placements] == [
        ("distance-0ms", "cross-region", 0.0),
        ("distance-1ms", "cross-region", 1.0),
        ("distance-20ms", "cross-region", 20.0),
    ]
    assert {cell.placement for cell in plan.cells} == {p.id for p in plan.placements}


def test_several_lists_are_a_grid(write: Write, known: Known) -> None:
    grid = "distance: {rtt: [5ms, 20ms], jitter: 500us, loss: [0 %, 1 %], rate: [10 Mbit/s, 1 Gbit/s]}"
    plan = make_plan(write(f"{LAB}{grid}\n"), known=known)
    assert [p.name for p in plan.placements] == [
        f"distance-{rtt}ms-{rate}mbit-loss-{loss}pct" for rtt in (5, 20) for rate in (10, 1000) for loss in (0, 1)
    ]
    assert {(p.link.rtt_ms, p.link.rate_mbit, p.link.loss, p.link.jitter_ms) for p in plan.placements} == {
        (rtt, rate, loss, 0.5) for rtt in (5.0, 20.0) for rate in (10.0, 1000.0) for loss in (0.0, 0.01)
    }


def test_all_distances_of_a_list_are_asked_of_one_responder_by_a_requester_each(write: Write, known: Known) -> None:
    plan = make_plan(write(LAB + "placements: local\ndistance: {rtt: [1ms, 5ms, 20ms, 50ms, 100ms]}\n"), known=known)
    made = topology(plan)
    assert {ends.responder for ends in made.ends.values()} == {"responder-1"}
    assert len({ends.requesters for ends in made.ends.values()}) == 6
    assert len(hosts_needed(plan)) == 6
    between = {link.zones: link.link.rtt_ms for link in made.links}
    for placement in plan.placements[1:]:
        zones = (str(placement.from_zone), str(placement.to_zone))
        assert between[min(zones), max(zones)] == placement.link.rtt_ms
    assert (
        between["lab-distance-1-a", "lab-distance-3-a"] == 21.0
    )  # nothing is measured there: the way over the responder's


def test_a_grid_is_counted_before_it_is_made(write: Write, known: Known) -> None:
    rtts = ", ".join(f"{n}ms" for n in range(1000))
    rates = ", ".join(f"{n} Mbit/s" for n in range(1, 1001))
    losses = ", ".join(f"{n / 100} %" for n in range(1000))
    text = f"{LAB}distance: {{rtt: [{rtts}], rate: [{rates}], loss: [{losses}]}}\n"
    assert problems(write(text), known) == [
        "7:11: the lists make 1,000,000,000 placements; an experiment may have at most 1,000. Ask less at once."
    ]


def test_on_a_cloud_pairs_of_zones_are_the_distances(write: Write, known: Known) -> None:
    pairs = ", ".join(
        f"{{from: {one}, to: {other}}}"
        for one, other in (
            ("us-central1-a", "us-central1-a"),
            ("us-central1-a", "us-west1-a"),
            ("us-east1-b", "us-west1-a"),
        )
    )
    plan = make_plan(write(f"{GCP}distance: {{zones: [{pairs}]}}\n"), known=known)
    assert [(p.name, p.kind, p.from_zone, p.to_zone, p.link.rtt_ms) for p in plan.placements] == [
        ("us-central1-a-us-central1-a", "same-zone", "us-central1-a", "us-central1-a", None),
        ("us-central1-a-us-west1-a", "cross-region", "us-central1-a", "us-west1-a", None),
        ("us-east1-b-us-west1-a", "cross-region", "us-east1-b", "us-west1-a", None),
    ]
    ends = topology(plan).ends
    assert ends["us-central1-a-us-west1-a"].responder == ends["us-east1-b-us-west1-a"].responder
