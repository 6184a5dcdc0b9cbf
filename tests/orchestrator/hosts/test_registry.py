"""Deployments are written down before anything is made, and found again by id or run."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from orchestrator import own_mark
from orchestrator.errors import MissingError, UsageError
from orchestrator.hosts.provision import registry
from orchestrator.hosts.provision.infra import Infra
from orchestrator.hosts.provision.overview import overview
from orchestrator.hosts.provision.registry import Intent, Registry, deployment_id
from orchestrator.measure.teardown import end, end_all, end_what_is_up
from orchestrator.workspace import Workspace

REGISTRY = Registry(Workspace().deployments)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def intent(run_id: str, created_at: float = 1.0) -> Intent:
    return Intent(
        id=deployment_id(run_id),
        run_id=run_id,
        provider="lab",
        hosts=("responder-1",),
        created_at=created_at,
        expires_at=created_at + 60,
        cost_usd_per_h=None,
        state="intended",
    )


def test_what_was_written_is_read_again() -> None:
    REGISTRY.write(intent("run-a"))
    assert REGISTRY.read(deployment_id("run-a")) == intent("run-a")
    assert REGISTRY.read("never") is None


def test_only_what_may_be_up_is_standing_oldest_first() -> None:
    REGISTRY.write(intent("late", 20.0))
    REGISTRY.write(intent("early", 10.0))
    REGISTRY.write(replace(intent("gone", 5.0), state="down"))
    assert [i.run_id for i in REGISTRY.standing()] == ["early", "late"]


def test_a_deployment_is_found_by_run_by_id_or_by_being_the_only_one() -> None:
    with pytest.raises(UsageError, match="no deployment is up"):
        REGISTRY.find(None)
    REGISTRY.write(intent("one"))
    assert REGISTRY.find(None).run_id == REGISTRY.find("one").run_id == REGISTRY.find(deployment_id("one")).run_id
    REGISTRY.write(intent("two"))
    with pytest.raises(UsageError, match="several deployments are up"):
        REGISTRY.find(None)
    with pytest.raises(UsageError, match="no deployment of three"):
        REGISTRY.find("three")


def test_an_id_fits_the_interface_of_infra() -> None:
    for run in ("a", "20261121-025100-cross_region-a1b2"):
        assert deployment_id(run).isalnum()
        assert deployment_id(run).islower()
        assert len(deployment_id(run)) <= 20


def written(document: dict[str, object], identity: str | None = None) -> Path:
    """What a program of somebody else could put there; with our own mark, to see that fields are looked at besides."""
    folder = REGISTRY.folder_of(identity or deployment_id("run"))
    folder.mkdir(parents=True, mode=0o700)
    path = folder / registry.FILE
    path.write_text(json.dumps({**document, "mark": registry.mark_of(document, folder)}))
    return path


def plain(run_id: str = "run") -> dict[str, object]:
    return dict(json.loads(json.dumps(asdict(intent(run_id)))))


def test_what_carries_no_mark_of_this_user_is_refused_by_every_verb_and_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def ask(_infra: Infra, *words: str) -> None:
        pytest.fail(f"the provider's program was run: {words}")

    monkeypatch.setattr(Infra, "_ask", ask)
    path = written(plain())
    path.write_text(json.dumps(plain()))
    verbs: list[Callable[[], object]] = [
        lambda: overview(REGISTRY),
        lambda: end_what_is_up(Workspace()),
        lambda: end_all(Workspace()),
        lambda: end(Workspace(), "run"),
        lambda: REGISTRY.find(None),
    ]
    for verb in verbs:
        with pytest.raises(UsageError, match=f"{deployment_id('run')} was not made here"):
            verb()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("provider", "/proc/self/cwd/evil"),
        ("provider", "../infra/lab"),
        ("provider", "local"),
        ("id", "../../../victim"),
        ("id", deployment_id("other")),
        ("run_id", "other"),
        ("run_id", "a/../b"),
        ("run_id", "a\nb"),
        ("hosts", ["../a"]),
        ("hosts", "a"),
        ("created_at", "1"),
        ("expires_at", 1e30),
        ("cost_usd_per_h", -1),
        ("state", "gone"),
        ("target", {"project": 1}),
        ("more", 1),
    ],
)
def test_every_field_is_held_to_its_shape_though_the_mark_be_right(field: str, value: object) -> None:
    written({**plain(), field: value})
    with pytest.raises(UsageError, match=f"damaged: .*{field}"):
        REGISTRY.read(deployment_id("run"))


def test_what_is_no_object_is_refused() -> None:
    written(plain()).write_text("[]")
    with pytest.raises(UsageError, match="damaged"):
        REGISTRY.standing()


def test_a_copy_in_the_same_place_is_not_ours_and_a_change_is_seen(tmp_path: Path) -> None:
    REGISTRY.write(intent("run"))
    folder = REGISTRY.folder_of(deployment_id("run"))
    folder.rename(tmp_path / "before")
    shutil.copytree(tmp_path / "before", folder)
    with pytest.raises(UsageError, match="not made here"):
        REGISTRY.standing()
    shutil.rmtree(folder)
    (tmp_path / "before").rename(folder)
    assert REGISTRY.read(deployment_id("run")) == intent("run")
    path = folder / registry.FILE
    path.write_text(path.read_text().replace("intended", "down"))
    with pytest.raises(UsageError, match="not made here"):
        REGISTRY.read(deployment_id("run"))


def test_the_same_folder_is_not_believed_by_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    REGISTRY.write(intent("run"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "of another"))
    with pytest.raises(UsageError, match="not made here"):
        REGISTRY.read(deployment_id("run"))
    assert not own_mark.key_file().exists(), "reading makes no key"


@pytest.mark.parametrize("name", [".", registry.FILE])
def test_what_others_can_write_to_is_refused(name: str) -> None:
    REGISTRY.write(intent("run"))
    (REGISTRY.folder_of(deployment_id("run")) / name).chmod(0o777)
    with pytest.raises(UsageError, match="others can write to it"):
        REGISTRY.standing()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("name", [".", registry.FILE])
def test_what_belongs_to_another_user_is_refused(name: str) -> None:
    REGISTRY.write(intent("run"))
    os.chown(REGISTRY.folder_of(deployment_id("run")) / name, 65534, 65534)
    with pytest.raises(UsageError, match="belongs to another user"):
        REGISTRY.standing()


def test_a_link_in_the_place_of_the_file_or_the_folder_is_refused(tmp_path: Path) -> None:
    REGISTRY.write(intent("run"))
    folder = REGISTRY.folder_of(deployment_id("run"))
    path = folder / registry.FILE
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="it is a link"):
        REGISTRY.read(deployment_id("run"))
    path.unlink()
    (tmp_path / "elsewhere").rename(path)
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    with pytest.raises(UsageError, match="it is a link"):
        REGISTRY.read(deployment_id("run"))


def test_hosts_are_not_made_in_a_folder_that_held_something_before() -> None:
    folder = REGISTRY.folder_of(deployment_id("run"))
    folder.mkdir(parents=True, mode=0o700)
    (folder / f"{registry.FILE}.partial").write_text("{")  # a kill amid the first writing
    REGISTRY.write(intent("run"))
    assert REGISTRY.standing() == [intent("run")]
    (folder / registry.FILE).unlink()
    (folder / "terraform.tfstate").write_text("{}")
    with pytest.raises(UsageError, match="with something in it"):
        REGISTRY.write(intent("run"))


def test_a_key_that_others_can_read_the_place_of_and_write_to_is_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    REGISTRY.write(intent("run"))
    assert (own_mark.key_file().stat().st_mode & 0o777, own_mark.key_file().parent.stat().st_mode & 0o777) == (
        0o600,
        0o700,
    )
    own_mark.key_file().parent.chmod(0o777)
    with pytest.raises(MissingError, match="others can write to it"):
        REGISTRY.read(deployment_id("run"))
    own_mark.key_file().parent.chmod(0o700)
    own_mark.key_file().write_bytes(b"")
    with pytest.raises(MissingError, match="32 bytes"):
        REGISTRY.write(intent("another"))


def test_a_providers_name_leads_to_nothing_but_the_folders_of_infra() -> None:
    for name in ("/proc/self/cwd/evil", "..", "local", "lab/../gcp"):
        with pytest.raises(UsageError, match="there is no provider"):
            Infra(name)


def test_a_key_that_others_can_read_is_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    REGISTRY.write(intent("run"))
    own_mark.key_file().chmod(0o640)
    with pytest.raises(MissingError, match="others can read it"):
        REGISTRY.read(deployment_id("run"))


def test_a_link_that_waits_where_the_intent_is_written_is_not_followed(tmp_path: Path) -> None:
    folder = REGISTRY.folder_of(deployment_id("run"))
    folder.mkdir(parents=True, mode=0o700)
    (tmp_path / "precious").write_text("x")
    (folder / f"{registry.FILE}.partial").symlink_to(tmp_path / "precious")
    REGISTRY.write(intent("run"))
    assert (tmp_path / "precious").read_text() == "x"
    assert REGISTRY.standing() == [intent("run")]


def test_a_mark_of_one_kind_is_none_of_another() -> None:
    folder = REGISTRY.folder_of(deployment_id("run"))
    folder.mkdir(parents=True, mode=0o700)
    about = registry._about(plain(), folder)
    (folder / registry.FILE).write_text(json.dumps({**plain(), "mark": own_mark.mark("run", about)}))
    with pytest.raises(UsageError, match="not made here"):
        REGISTRY.read(deployment_id("run"))
