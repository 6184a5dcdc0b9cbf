"""Which PostgreSQL is found on a machine, who runs it, and what is said where there is none."""

from __future__ import annotations

import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import MissingError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.local import postgresql
from orchestrator.shapes import decode

BALANCE = "name: x\nquestion: Why?\nstacks: rest\noperations: balance\n"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Puts programs of a version into a folder of the system, as far as `find` looks at them."""
    tmp_path.chmod(0o755)
    monkeypatch.setattr(postgresql, "_OF_SYSTEM", (tmp_path,))
    monkeypatch.setattr(postgresql, "find_spec", lambda _name: None)
    monkeypatch.setattr(postgresql, "_user", postgresql._User)

    def put(folder: str, version: str) -> Path:
        programs = tmp_path / folder / "bin"
        programs.mkdir(parents=True)
        for name in ("postgres", "initdb"):
            (programs / name).write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n")
            (programs / name).chmod(stat.S_IRWXU | stat.S_IROTH | stat.S_IXOTH)
        return programs

    return put


def test_one_that_is_too_old_or_does_not_start_is_named(installed: Callable[[str, str], Path]) -> None:
    old = installed("15", "15.9")
    broken = installed("17", "17.0")
    (broken / "postgres").write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(MissingError) as missing:
        postgresql.find()
    assert f"{old}: PostgreSQL 15.9" in missing.value.message
    assert f"{broken}: cannot be started" in missing.value.message
    assert "ORCH_POSTGRESQL=" in str(missing.value.hint)


def test_a_server_that_cannot_be_made_is_said_and_leaves_nothing(
    installed: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = installed("18", "18.1")
    (programs / "initdb").write_text("#!/bin/sh\necho 'initdb: error: no room' >&2\nexit 1\n")
    kept = tmp_path / "temporary"
    kept.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(kept))
    with (
        pytest.raises(MissingError, match="cannot make a database here: initdb: error: no room"),
        postgresql.running(4),
    ):
        pass
    (programs / "initdb").write_text("#!/bin/sh\nexit 0\n")
    said = "#!/bin/sh\n[ $1 = --version ] && echo 'postgres (PostgreSQL) 18.1' && exit 0\necho 'FATAL: no memory'\n"
    (programs / "postgres").write_text(said)
    with pytest.raises(MissingError, match="does not start here: FATAL: no memory"), postgresql.running(4):
        pass
    assert list(kept.iterdir()) == []


def planned(folder: Path, more: str) -> Plan:
    path = folder / "x.yaml"
    path.write_text(BALANCE + more)
    return make_plan(path)


IN_THE_LAB = "store: postgresql\nprovider: lab\nplacements: same-zone\n"


def test_where_hosts_are_made_it_gets_one_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORCH_POSTGRESQL", raising=False)
    plan = planned(tmp_path, IN_THE_LAB)
    assert plan.makes_stores
    assert decode(Plan, plan.to_dict()).makes_stores
    with postgresql.session_server(plan) as dsn:
        assert dsn == ""
    for more in ("store: sqlite\nprovider: lab\n", "store: postgresql\n"):
        plan = planned(tmp_path, more)
        assert not plan.makes_stores


def test_a_server_that_is_named_is_asked_from_hosts_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORCH_POSTGRESQL", "postgresql://db/x")
    plan = planned(tmp_path, IN_THE_LAB)
    assert not plan.makes_stores
    with postgresql.session_server(plan) as dsn:
        assert dsn == "postgresql://db/x"
    monkeypatch.delenv("ORCH_POSTGRESQL")
    with pytest.raises(MissingError, match="ORCH_POSTGRESQL named when it was made"), postgresql.session_server(plan):
        pass
