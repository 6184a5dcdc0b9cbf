"""A stored plan may come from elsewhere: what `orch plan` would not have written is refused by its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import UsageError
from orchestrator.experiment.plan import store
from orchestrator.experiment.plan.payloads import materialise
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.reading import read_plan
from tests.support.experiments import MINIMAL, Known, Write

EXPERIMENTS = Path(__file__).parents[3] / "experiments"
SECRET = "/home/u/.docker/config.json"
HERE = {"given": "localhost", "host": "127.0.0.1", "port": 80, "is_anonymous": True}
THERE = {"given": "there", "host": "198.18.0.9", "port": 80, "is_anonymous": True}

ASKED = """\
operations:
  - echo: {json: body.json}
  - image: {bytes: 10 kB}
  - echo: {bytes: 64 B, calls: 3}
  - echo: {records: 5}
"""

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def raw(write: Write, known: Known, tmp_path: Path) -> dict[str, Any]:
    """A plan as JSON: payloads json, image, bytes (three calls) and records, in this order."""
    (tmp_path / "body.json").write_text('{"a": 1}')
    text = MINIMAL.replace("[rest, grpc]", "rest").replace("operations: timestamp\n", ASKED)
    found: dict[str, Any] = json.loads(json.dumps(make_plan(write(text), known=known).to_dict()))
    assert read_plan(found)
    return found


def _payload(number: int, **keys: object) -> Change:
    return lambda plan: plan["operations"][number]["payload"].update(keys)


def _instead(number: int, payload: dict[str, object]) -> Change:
    return lambda plan: plan["operations"][number].update(payload=payload)


def _file(**keys: object) -> Change:
    return lambda plan: plan["payload_files"][0].update(keys)


def _link(**keys: object) -> Change:
    return lambda plan: plan["placements"][0]["link"].update(keys)


def _sent_away(plan: dict[str, Any]) -> None:
    plan["stacks"][0]["external"] = THERE
    plan["placements"][0]["kind"] = "external"
    plan["operations"][0]["payload"] = {"kind": "json", "path": SECRET}
    del plan["payload_files"][0]


CHANGES: dict[str, tuple[str, Change]] = {
    "a file of the user's for another": (r"operations\.0\.payload\.path", _sent_away),
    "a label as long as a book": (r"stacks\.0\.label", lambda plan: plan["stacks"][0].update(label="x" * 10_000)),
    "a link that loses less than nothing": (r"placements\.0\.link\.loss", _link(loss=-1.0)),
    "a link that loses everything": (r"placements\.0\.link\.loss", _link(loss=1.0)),
    "a link of no rate": (r"placements\.0\.link\.rate_mbit", _link(rate_mbit=0.0)),
    "a link of a rate below all numbers": (r"placements\.0\.link\.rate_mbit", _link(rate_mbit=5e-324)),
    "a round trip below nothing": (r"placements\.0\.link\.rtt_ms", _link(rtt_ms=-1.0)),
    "a round trip of ages": (r"placements\.0\.link\.rtt_ms", _link(rtt_ms=1e308)),
    "an initial window below nothing": (r"placements\.0\.link\.initial_window", _link(initial_window=-10)),
    "an initial window beyond the receiver's": (r"placements\.0\.link\.initial_window", _link(initial_window=10**400)),
    "a jitter of ages": (r"placements\.0\.link\.jitter_ms", _link(jitter_ms=1e308)),
    "a path beside the digest": (r"operations\.0\.payload\.path", _payload(0, path=SECRET)),
    "no path": (r"operations\.0\.payload\.path", _payload(0, path=None)),
    "no digest": (r"operations\.0\.payload\.sha256", _instead(0, {"kind": "json"})),
    "another digest": (r"operations\.0\.payload\.sha256", _payload(0, sha256="0" * 64)),
    "no file": (r"operations\.0\.payload\.kind", lambda plan: plan["payload_files"].pop(0)),
    "a file twice": (r"payload_files\.2", lambda plan: plan["payload_files"].append(plan["payload_files"][0])),
    "a file for bytes": (r"operations\.0\.payload\.kind", _file(operation="echo-64b-3-calls")),
    "an absolute source": (r"payload_files\.0\.source", _file(source=SECRET)),
    "a source above": (r"payload_files\.0\.source", _file(source="../body.json")),
    "a source above, by a detour": (r"payload_files\.0\.source", _file(source="a/../../body.json")),
    "no source": (r"payload_files\.0\.source", _file(source="")),
    "JSON that is generated": (r"operations\.0\.payload\.kind", _file(source="image: generated")),
    "a name with a folder": (r"payload_files\.0\.name", _file(name="a/b.json")),
    "a picture of another size": (r"operations\.1\.payload\.size", _payload(1, size=7_000)),
    "a key of no payload": (r"operations\.0\.payload\.zzz", _instead(0, {"kind": "json", "zzz": [1]})),
    "no kind of payload": (r"operations\.0\.payload\.kind", _payload(0, kind="file")),
    "a floor's payload": (r"operations\.2\.payload\.kind", _instead(2, {"kind": "exchange", "size": 1})),
    "a size below zero": (r"operations\.2\.payload\.size", _payload(2, size=-1)),
    "a size that no memory has": (r"operations\.2\.payload\.size", _payload(2, size=2**52)),
    "records that no memory has": (r"operations\.3\.payload\.count", _payload(3, count=2**52)),
    "a cell by another name": (r"cells\.0\.id", lambda plan: plan["cells"][0].update(id="another")),
    "a cell twice, by two names": (
        r"cells\.4\.id",
        lambda plan: plan["cells"].append({**plan["cells"][0], "id": "another"}),
    ),
    "an id that leaves its folder": (r"placements\.0\.id", lambda plan: plan["placements"][0].update(id="../../x")),
    "a task by another name": (r"operations\.2\.id", lambda plan: plan["operations"][2].update(id="echo-64b")),
    "a task of another label": (r"operations\.2\.label", lambda plan: plan["operations"][2].update(label="echo")),
    "a seed below zero": (r"trials\.0\.seed", lambda plan: plan["trials"][0].update(seed=-1)),
    "a plan's seed below zero": (r"seed", lambda plan: plan.update(seed=-1)),
    "a warm-up below zero": (
        r"cells\.0\.warmup\.at_most_s",
        lambda plan: plan["cells"][0]["warmup"].update(at_most_s=-5),
    ),
    "requests below zero": (r"cells\.0\.load\.requests", lambda plan: plan["cells"][0]["load"].update(requests=-1)),
    "no end of seconds": (
        r"cells\.0\.load\.duration_s",
        lambda plan: plan["cells"][0]["load"].update(duration_s=1e300),
    ),
    "no trials": (r"trials", lambda plan: plan.update(trials=[])),
    "localhost elsewhere": (
        r"stacks\.0\.external\.host",
        lambda plan: plan["stacks"][0].update(external={**THERE, "given": "localhost"}),
    ),
    "figures that stand for others": (
        r"stacks\.0\.external\.host",
        lambda plan: plan["stacks"][0].update(external={**THERE, "given": "127.0.0.1"}),
    ),
    "a far one at a place here": (r"placements\.0\.kind", lambda plan: plan["stacks"][0].update(external=THERE)),
    "two distances": (
        r"stacks\.1\.external: it answers from this machine, another stack from 198\.18\.0\.9",
        lambda plan: plan.update(
            stacks=[{**plan["stacks"][0], "external": THERE}, {**plan["stacks"][0], "id": "other", "external": HERE}]
        ),
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_orch_plan_would_not_have_written_is_refused_by_its_place(raw: dict[str, Any], case: str) -> None:
    place, change = CHANGES[case]
    change(raw)
    with pytest.raises(ValueError, match=f"^{place}"):
        read_plan(raw)


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("*.yaml")), ids=lambda path: path.stem)
@pytest.mark.parametrize("changes", [(), ("control=true",)], ids=["as it is", "with controls"])
def test_a_shipped_experiment_is_read_back_as_it_was_planned(path: Path, changes: tuple[str, ...]) -> None:
    plan = make_plan(path, changes, needs_programs=False)
    assert read_plan(json.loads(json.dumps(plan.to_dict()))) == plan


@pytest.mark.parametrize("name", ["body.json", "more/../body.json", "{folder}/body.json", "link.json"])
def test_a_payload_is_planned_by_its_place_in_the_folder(write: Write, known: Known, tmp_path: Path, name: str) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "body.json").write_text('{"a": 1}')
    (tmp_path / "link.json").symlink_to("body.json")
    plan = make_plan(
        write(MINIMAL.replace("timestamp", f"{{echo: {{json: {name.format(folder=tmp_path)}}}}}")), known=known
    )
    assert [file.source for file in plan.payload_files] == ["body.json"]
    store.save(plan, tmp_path / "plans")
    assert store.current(tmp_path / "plans") == plan


def test_a_link_out_of_the_folder_is_not_followed_when_payloads_are_copied(
    write: Write, known: Known, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "body.json").write_text('{"a": 1}')
    path = folder / "example.yaml"
    path.write_text(MINIMAL.replace("timestamp", "{echo: {json: body.json}}"))
    plan = make_plan(path, known=known)
    (folder / "body.json").rename(tmp_path / "body.json")
    (folder / "body.json").symlink_to("../body.json")
    with pytest.raises(UsageError, match="is outside the experiment's folder"):
        materialise(plan, tmp_path / "payloads")
