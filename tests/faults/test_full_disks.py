"""`results` or `reports` full, read-only, or a file: one message names the place, exit 2 or 3, no traceback."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.called import orch

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small disk: needs root")

PLACES = [(name, state) for name in ("results", "") for state in ("full", "read-only")]
PLACES += [(name, "a file") for name in ("results", "reports")]
TINY = """\
name: tiny
question: q
stacks: rest
operations: timestamp
repeats: 1
load: {requests: 20}
warmup: {requests: 1, at_least: 0s}
"""


@contextmanager
def refusing(place: Path, state: str) -> Iterator[None]:
    """A place that refuses files until the block ends. Root writes to all but a full tmpfs and a read-only mount."""
    if state == "a file":
        place.write_text("in the way")
        yield
        return
    place.mkdir(exist_ok=True)
    size = "16k" if state == "full" else "1m"
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
    try:
        if state == "full":
            fill(place / "ballast")
        else:
            subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as ballast:
        try:
            while ballast.write(bytes(4096)):
                pass
        except OSError:
            return


@pytest.mark.busy
@pytest.mark.parametrize(("name", "state"), PLACES)
def test_a_run_that_cannot_write_names_the_place(name: str, state: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "tiny.yaml").write_text(TINY)
    with refusing(home / name, state):
        done = orch("run", "--share-machine", "../tiny.yaml", cwd=home)
        has_begun = (home / "results").is_dir() and any((home / "results").glob("*/journal.jsonl"))
    text = done.stdout + done.stderr
    assert done.returncode in (2, 3), text
    assert "Traceback" not in text
    assert name in text
    assert has_begun or "--resume" not in text
