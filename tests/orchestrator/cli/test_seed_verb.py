"""`orch setup seed`: a file of SQLite made, verified, or refused; an address on the command line is not taken."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from orchestrator.cli.console import console
from orchestrator.cli.machine import seed
from orchestrator.errors import MissingError, UsageError


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What is printed."""
    found = io.StringIO()
    monkeypatch.setattr(console, "out", found)
    monkeypatch.setattr(console, "as_json", False)
    return found


@pytest.mark.slow
def test_a_file_is_seeded_once_and_verified_then(tmp_path: Path, said: io.StringIO) -> None:
    path = tmp_path / "store.sqlite3"
    for is_new in (True, False):
        seed.seed(path, as_json=True)
        told = json.loads(said.getvalue())
        said.seek(0)
        said.truncate()
        assert (told["store"], told["is_new"], told["accounts"], told["transactions"]) == (
            "sqlite",
            is_new,
            10_000,
            100_000,
        )
        assert len(told["digest"]) == 64
    seed.seed(path)
    assert "110,000 rows, was seeded before" in said.getvalue()


def test_what_is_something_else_is_refused_and_left(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my own notes, of more than sixteen bytes")
    with pytest.raises(MissingError, match="file is not a database"):
        seed.seed(path)
    assert path.read_text() == "my own notes, of more than sixteen bytes"


def test_a_server_is_named_in_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORCH_POSTGRESQL", raising=False)
    with pytest.raises(UsageError, match="no database is named"):
        seed.store_of(None)
    for address in (
        "postgresql://me:secret@host/x",
        "PostgreSQL://me:secret@host/x",
        "host=db password=secret",
        "sslmode=require password = secret",
    ):
        with pytest.raises(UsageError, match="would be seen by every user") as refused:
            seed.store_of(Path(address))
        assert "secret" not in refused.value.message
    assert seed.store_of(Path("shop/a=b.sqlite3")) == {"store": "sqlite", "database": "shop/a=b.sqlite3"}
    monkeypatch.setenv("ORCH_POSTGRESQL", "postgresql://host/x")
    assert seed.store_of(None) == {"store": "postgresql", "database": "postgresql://host/x"}
