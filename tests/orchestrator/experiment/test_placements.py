import pytest

from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import MINIMAL, Known, Write, refused

LAB = MINIMAL + "provider: lab\n"
GCP = MINIMAL + "provider: gcp\nmachine: e2-micro\n"


def test_the_built_in_placements_of_the_lab_have_published_distances(write: Write, known: Known) -> None:
    plan = make_plan(write(LAB + "placements: [local, same-zone, cross-region]\n"), known=known)
    assert [(p.name, p.kind, p.from_zone, p.to_zone, p.link.rtt_ms) for p in plan.placements] == [
        ("local", "local", "us-central1-a", "us-central1-a", None),
        ("same-zone", "same-zone", "us-central1-a", "us-central1-a", 1.489),
        ("cross-region", "cross-region", "us-central1-a", "us-west1-a", 35.594),
    ]
    assert "study" in plan.placements[1].link.source


def test_a_distance_of_ones_own_takes_its_parts_from_the_file(write: Write, known: Known) -> None:
    place = "{name: far, rtt: 80ms, jitter: 500us, rate: 100 Mbit/s, loss: 0.1 %}"
    link = make_plan(write(f"{LAB}placements: {place}\n"), known=known).placements[0].link
    assert (link.rtt_ms, link.jitter_ms, link.rate_mbit, link.loss) == (80, 0.5, 100, 0.001)
    assert link.source == "the experiment file"


def test_a_lab_link_always_has_a_rate(write: Write, known: Known) -> None:
    assert make_plan(write(LAB + "placements: same-zone\n"), known=known).placements[0].link.rate_mbit == 1000


def test_placements_without_zones_stand_where_the_others_do(write: Write, known: Known) -> None:
    places = "[same-zone, {name: cross-region, from: europe-west1-b, to: us-east1-b}]"
    plan = make_plan(write(f"{GCP}placements: {places}\n"), known=known)
    assert plan.placements[0].from_zone == "europe-west1-b"


def test_on_gcp_the_distance_is_the_networks_own(write: Write, known: Known) -> None:
    plan = make_plan(write(GCP + "placements: [local, cross-region]\n"), known=known)
    assert [p.link.rtt_ms for p in plan.placements] == [None, None]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            LAB + "placements: {name: far, from: asia-east1-a, to: us-west1-a}\n",
            "no published round trip between asia-east1-a and us-west1-a is known here"
            " (known: within us-central1, us-central1 - us-west1). Give one: `rtt: 80ms`.",
        ),
        (
            LAB + "placements: cross-regoin\n",
            "placement 'cross-regoin' needs `from`, a zone such as us-central1-a, or on lab an `rtt`."
            " Did you mean cross-region?",
        ),
        (LAB + "placements: [local, {name: local}]\n", "placement 'local' is given twice."),
        (
            LAB + "placements: {name: local, from: us-central1-a, to: us-west1-a}\n",
            "both ends of a local placement share one host, so `from` and `to` must be the same zone.",
        ),
        (
            LAB + "placements: {name: same-zone, from: us-central1-a, to: us-west1-a}\n",
            "a same-zone placement cannot have two zones; give it another name.",
        ),
        (
            LAB + "placements: {name: far, rtt: 1ms, jitter: 2ms}\n",
            "the jitter is larger than the round trip itself.",
        ),
        (
            LAB + "placements: {name: far, rtt: 11s}\n",
            "'rtt': must be at most 10 s; it is '11s'.",
        ),
        (
            LAB + "placements: [cross-region, {name: far, from: us-west1-a, to: us-central1-a, rtt: 9ms}]\n",
            "'far' and 'cross-region' need different distances between the same two zones"
            " (us-west1-a and us-central1-a); give one of them zones of its own.",
        ),
        (
            LAB + "requesters: 2\n",
            "`requesters: 2` needs as many hosts that ask, and both ends of a local placement share one: give another"
            " placement, or leave this part out with `exclude`.",
        ),
        (LAB + "machine: f1-mikro\n", "lab has no machine type 'f1-mikro'. Did you mean f1-micro or e2-micro?"),
        (
            GCP.replace("e2-micro", "lab"),
            "gcp has no machine type 'lab'. Known: e2-medium, e2-micro, e2-small, e2-standard-2, e2-standard-4,"
            " e2-standard-8, f1-micro, g1-small, n1-standard-1.",
        ),
        (
            LAB + "limits: {wall: 3h}\n",
            "hosts expire after 2 h, before `limits.wall` (3 h).",
        ),
        (MINIMAL + "provider: gcp\n", "gcp needs a `machine`, such as e2-micro or f1-micro."),
        (
            GCP + "placements: {name: cross-region, rtt: 5ms, from: us-central1-a, to: us-west1-a}\n",
            "'rtt' is the network's own on gcp; leave it out, or use `provider: lab`.",
        ),
        (
            GCP + "limits: {cost: 0.01 USD}\nplacements: cross-region\n",
            "2 hosts may cost 0.05 USD until they expire after 2 h, more than limits.cost (0.01 USD)."
            " Raise it, or shorten limits.ttl.",
        ),
        (
            GCP.replace("e2-micro", "g1-small"),
            "no price is known for g1-small in us-central1 (list of 2025-03-06), so `limits.cost` cannot be kept."
            " Choose f1-micro or an e2 type, in a region of the list.",
        ),
        (
            GCP + "placements: {name: far, from: mars-north1-a, to: us-west1-a}\n",
            "no price is known for e2-micro in mars-north1, us-west1 (list of 2025-03-06), so `limits.cost` cannot be"
            " kept. Choose f1-micro or an e2 type, in a region of the list.",
        ),
    ],
)  # fmt: skip
def test_places_that_cannot_be_had_are_refused(write: Write, known: Known, text: str, problem: str) -> None:
    assert {p.message for p in refused(write(text), known)} == {problem}  # of every stack that it is of
