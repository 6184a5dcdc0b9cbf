import errno
import os
from pathlib import Path

import pytest

from orchestrator.cli.console import console
from orchestrator.cli.keeping import keep
from orchestrator.disk import explained, writing
from orchestrator.errors import MissingError
from orchestrator.experiment import store
from orchestrator.report.page import write_page
from orchestrator.results.folder import RunFolder, runs
from orchestrator.summarise import summarise
from tests.support.runs import a_plan, a_run


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.ENOTDIR])
def test_what_the_disk_refuses_names_the_place_and_the_way_on(number: int) -> None:
    with pytest.raises(MissingError, match="results/x") as error, writing(Path("results/x"), "plan again"):
        raise OSError(number, os.strerror(number), "results/x")
    assert error.value.hint.endswith("then plan again")


@pytest.mark.parametrize(
    "error", [OSError(errno.EBADF, "bad descriptor"), FileNotFoundError(errno.ENOENT, "no", "x.html")]
)
def test_another_fault_is_not_hidden(error: OSError) -> None:
    assert explained(error) is None


def test_a_run_folder_that_may_not_be_read_is_not_called_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()

    def refused(path: Path) -> bool:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "is_file", refused)
    assert runs(tmp_path) == []
    with pytest.raises(PermissionError) as caught:
        RunFolder.open("a", root=tmp_path)
    known = explained(caught.value)
    assert known is not None
    assert "Permission denied" in known.message


def test_a_file_in_the_way_of_plans_is_named(tmp_path: Path) -> None:
    (tmp_path / ".orch").write_text("")
    with pytest.raises(MissingError, match=r"\.orch/plans/"):
        store.save(a_plan(), tmp_path / ".orch" / "plans")


def test_what_is_made_of_a_run_that_has_ended_names_no_resume_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    monkeypatch.setattr(console, "warning", said.append)
    folder = RunFolder.create(a_plan(), command=[], root=tmp_path / "results")
    summary = summarise(a_run(blocks=2))

    def no_space(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", no_space)
    monkeypatch.setattr(Path, "write_bytes", no_space)
    with pytest.raises(MissingError, match="the disk is full") as error:
        write_page("<p>", Path("reports/x.html"))
    assert "--resume" not in f"{error.value.message} {error.value.hint}"
    keep(folder, summary)
    assert "stay as they were: the disk is full" in said[0]
