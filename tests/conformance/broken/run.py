"""The suite, run against one broken end: which of its cases fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tests.conformance.reference.contract import ROOT

PROMISES = ROOT / "tests" / "conformance" / "promises"
PATIENCE_S = 20  # what hangs is found after so long, and a busy machine is no hang
SHORT_S = 5  # where the one case is asked for that must fail anyway
ON_THE_WAY = "test_on_the_way.py"
FILES = {
    "respond": ("test_responder.py", "test_replies.py", "test_documents.py", "test_tls.py"),
    "request": (
        "test_requester_process.py",
        "test_trials.py",
        "test_open_loop.py",
        "test_turns.py",
        "test_tasks.py",
        "test_ping.py",
        "test_mixes.py",
        "test_tls.py",
    ),
}


REFERENCE = ["{python}", "-S", "-m", "tests.conformance.reference.respond"]


def declare(role: str, name: str, folder: Path, *, meets: bool = False) -> Path:
    """A declaration of that broken end of `tcp`, a requester of `http+json` too; or of one that `meets` the reference."""
    module = {"respond": "responders", "request": "requesters"}[role]
    path = folder / f"{name}.json"
    tcp = {
        "name": "tcp",
        "operations": ["timestamp", "add", "echo", "image", "exchange", "transfer"],
        "responders": [{"name": "reference"}],
        "clients": [{"name": "reference"}, {"name": "reference-codec", "kind": "codec"}],
    }
    command = ["{python}", "-S", "-m", f"tests.conformance.broken.{module}", name]
    beside = {"respond": REFERENCE} if meets else {}
    http = [{**tcp, "name": "http+json"}] if role == "request" else []
    path.write_text(json.dumps({**beside, role: command, "offers": {"protocols": [tcp, *http]}}))
    return path


def failing(role: str, name: str, folder: Path, only: str = "", *, among: str = "", meets: bool = False) -> set[str]:
    """The names of the cases that fail, without their parameters.

    `only`: whether this one does, with whatever parameters. `among`: of those that pytest's `-k` takes so. `meets`: those of
    a requester that a relay sees on its way to the reference's responder.
    """
    report = folder / f"{name}.xml"
    files = [PROMISES / file for file in ((ON_THE_WAY,) if meets else FILES[role])]
    if only:
        files = [file for file in files if f"def {only}(" in file.read_text(encoding="utf-8")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_timeout"]
    command += [f"--confcutdir={PROMISES.parent}", *map(str, files)]
    command += ["--implementation", str(declare(role, name, folder, meets=meets))]
    command += ["--patience", str(SHORT_S if only else PATIENCE_S), "--junitxml", str(report)]
    command += ["-x", "-k", only] if only else ["-k", among]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # half of what such a session costs
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1200)
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    cases = list(ElementTree.parse(report).iter("testcase"))  # noqa: S314 - our own file
    assert cases, ran.stdout
    return {case.get("name", "").partition("[")[0] for case in cases if case.find("failure") is not None}


if __name__ == "__main__":
    import tempfile

    from tests.conformance.broken import requesters, responders

    for role, known in (("respond", responders.BROKEN), ("request", requesters.BROKEN)):
        for name in known:
            if sys.argv[1:] and f"{role}/{name}" not in sys.argv[1:]:
                continue
            with tempfile.TemporaryDirectory() as folder:
                sys.stdout.write(f"{role}/{name}: {' '.join(sorted(failing(role, name, Path(folder))))}\n")
                sys.stdout.flush()
