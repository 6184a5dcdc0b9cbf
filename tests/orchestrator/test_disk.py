import errno
import os
from pathlib import Path

import pytest

from orchestrator.disk import explained, writing
from orchestrator.errors import MissingError
from orchestrator.experiment.plan import store
from orchestrator.results.folder import RunFolder
from tests.support.runs import a_plan


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.ENOTDIR])
def test_what_the_disk_refuses_names_the_place_and_the_way_on(number: int) -> None:
    with pytest.raises(MissingError, match="results/x") as error, writing(Path("results/x"), "plan again"):
        raise OSError(number, os.strerror(number), "results/x")
    assert error.value.hint.endswith("then plan again")


def test_another_fault_is_not_hidden() -> None:
    assert explained(OSError(errno.EBADF, "bad descriptor")) is None


def test_a_file_in_the_way_of_plans_is_named(tmp_path: Path) -> None:
    (tmp_path / ".orch").write_text("")
    with pytest.raises(MissingError, match=r"\.orch/plans/"):
        store.save(a_plan(), tmp_path / ".orch" / "plans")


def test_a_run_that_cannot_begin_leaves_no_folder_and_names_no_resume(tmp_path: Path) -> None:
    (tmp_path / ".orch").write_text("in the way of the note that the run is ours")
    with pytest.raises(MissingError) as error:
        RunFolder.create(a_plan(), command=[], root=tmp_path / "results")
    assert list((tmp_path / "results").iterdir()) == []
    assert "--resume" not in f"{error.value.message} {error.value.hint}"
