"""A language of a few files: its build copies two scripts, which start the reference implementation under its own names."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from orchestrator.catalogue.offers import Language
from orchestrator.catalogue.read import SERVICES, read_catalogue

ROOT = Path(__file__).resolve().parents[2]
STACK = "{protocol: tcp, responder: reference, client: reference}"
TOOL = {"program": "sh", "at_least": "7", "version": ["sh", "-c", "echo shell 7.1"], "install": "it is in every image."}
MANIFEST: dict[str, Any] = {
    "manifest": 1,
    "contract": 2,
    "language": "tiny",
    "title": "Tiny",
    "precedence": 9,
    "roles": {role: {"argv": [f"{{folder}}/build/{role}"]} for role in ("respond", "request")},
    "build": [["sh", "-e", "make.sh"]],
    "toolchain": [TOOL],
    "protocols": [
        {
            "name": "tcp",
            "title": "TCP",
            "is_floor": True,
            "summary": "frames",
            "operations": ["add", "echo", "timestamp"],
            "responders": [{"name": "reference", "codec": "bytes", "transport": "TCP", "server": "threads"}],
            "clients": [{"name": "reference", "style": "sync"}],
            "sequential": "reference",
            "concurrent": "reference",
        }
    ],
}
MAKE = "install -m 755 source/respond source/request build/\n"
ELF = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00" + b"%b" + bytes(44)
ORCH = (
    "import sys; from pathlib import Path; from orchestrator.catalogue import read;"
    " read.SERVICES = Path(sys.argv.pop(1)); from orchestrator.cli.main import main; main()"
)


def program(role: str) -> str:
    """A script that does what the reference implementation does, with the Python of these tests, or of a host of the lab."""
    return (
        f"#!/bin/sh\npython={sys.executable}\n[ -x $python ] || python=/opt/orch/venv/bin/python\n"
        f"exec env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={ROOT} $python -S -m tests.conformance.reference.{role}\n"
    )


def write_tiny(services: Path, *, make: str = MAKE, **changes: Any) -> Path:
    """The folder of the language below `services`, where those here that need no build stand too; nothing is built."""
    folder = services / "tiny"
    (folder / "source").mkdir(parents=True)
    for there in SERVICES.glob("*/manifest.json"):
        if "build" not in json.loads(there.read_text(encoding="utf-8")):
            (services / there.parent.name).symlink_to(there.parent)
    (folder / "manifest.json").write_text(json.dumps({**MANIFEST, **changes}), encoding="utf-8")
    (folder / "make.sh").write_text(make, encoding="utf-8")
    for role in ("respond", "request"):
        (folder / "source" / role).write_text(program(role), encoding="utf-8")
    return folder


def tiny(services: Path) -> Language:
    """The language, as the catalogue has it."""
    return read_catalogue(services).languages["tiny"]


def of_another_machine() -> bytes:
    """The first bytes of a program for a processor that this machine has not."""
    import platform

    return ELF.replace(b"%b", b"\x3e\x00" if platform.machine() == "aarch64" else b"\xb7\x00")
