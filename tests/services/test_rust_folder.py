"""What lies in the folder of Rust and was written by a program is of what it was written from."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUST = ROOT / "services/rust"


def test_the_messages_of_grpc_are_those_of_the_proto_as_it_is_now() -> None:
    first, *_ = (RUST / "src/grpc/generated.rs").read_text().splitlines()
    digest = hashlib.sha256((ROOT / "protos/orch.proto").read_bytes()).hexdigest()
    assert digest in first, "run `cargo run` in services/rust/generate"


def test_every_end_that_is_offered_has_its_lines_counted() -> None:
    manifest = json.loads((RUST / "manifest.json").read_text())
    counted = json.loads((RUST / "lines.json").read_text())
    offered = {
        protocol["name"]: (
            [end["name"] for end in protocol["responders"]],
            [end["name"] for end in protocol["clients"]],
        )
        for protocol in manifest["protocols"]
    }
    assert offered == {
        name: (list(ends["responders"]), list(ends["clients"])) for name, ends in counted["protocols"].items()
    }
    assert all((ROOT / file).is_file() for file in counted["files"])
