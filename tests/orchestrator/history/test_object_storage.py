"""A dataset in a bucket, on a server here that speaks S3 (`tests/support/object_store.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.fs as fs
import pytest

from orchestrator.cli.runs import teams
from orchestrator.errors import MissingError
from orchestrator.history import dataset
from tests.orchestrator.history.test_dataset import DAY, ROWS, files, put, refused
from tests.support import object_store
from tests.support.exported import FORMULA, SOUND, standing_in, workspace
from tests.support.object_store import KEY, Store

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workspace(tmp_path_factory.mktemp("workspace"))


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-told-to-anybody")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def store() -> Iterator[Store]:
    with object_store.running() as found:
        yield found


def test_a_bucket_holds_what_a_folder_holds_and_arrow_reads_it(root: Path, store: Store, tmp_path: Path) -> None:
    put(root, SOUND, FORMULA, to=store.uri("a/b"))
    put(root, SOUND, FORMULA, to=str(tmp_path / "x"))
    there = {key.removeprefix("a/b/") for key in store.objects if not key.endswith("/")}
    assert there == set(files(tmp_path / "x"))
    row = f"a/b/runs/experiment=synthetic/date={DAY}/run={SOUND}/part-00000.parquet"
    assert store.puts.index(row) > max(
        place for place, key in enumerate(store.puts) if "samples/experiment=synthetic" in key
    )
    bucket = fs.S3FileSystem(endpoint_override=f"127.0.0.1:{store.port}", scheme="http", region="eu-test-1")
    found = ds.dataset("team/a/b/samples", filesystem=bucket, partitioning="hive", format="parquet")
    assert found.count_rows(filter=ds.field("run") == SOUND) == ROWS


def test_publishing_again_puts_nothing_and_unpublishing_leaves_others_objects(root: Path, store: Store) -> None:
    put(root, SOUND, to=store.uri("x"))
    count = len(store.puts)
    (told,) = put(root, SOUND, to=store.uri("x"))["runs"]
    assert told["dataset"]["outcome"] == "there already"
    assert [key for key in store.puts[count:] if not key.endswith("/")] == []
    theirs = f"x/samples/experiment=synthetic/date={DAY}/run={SOUND}/theirs.parquet"
    store.objects[theirs] = b"mine"
    with standing_in(root):
        teams.unpublish([SOUND], to=store.uri("x"), yes=True)
    left = {key for key in store.objects if not key.endswith("/")}
    assert left == {theirs, f"x/{dataset.ABOUT}"}


def test_what_the_store_refuses_is_said_and_can_be_finished(root: Path, store: Store) -> None:
    store.fail_on = "/cells/"
    error = refused(root, SOUND, to=store.uri("x"), match=r"s3://team/x")
    assert isinstance(error, MissingError)
    assert not [key for key in store.objects if "/runs/experiment" in key]
    store.fail_on = ""
    (told,) = put(root, SOUND, to=store.uri("x"))["runs"]
    assert told["dataset"]["outcome"] == "published"
