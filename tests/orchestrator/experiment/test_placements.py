from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import MINIMAL, Known, Write

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
