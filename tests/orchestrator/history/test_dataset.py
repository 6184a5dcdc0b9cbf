"""`orch runs publish --to`: what lies in a dataset, as other programs read it, and what orch never touches there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from orchestrator.cli.runs import teams
from orchestrator.errors import MissingError, OrchError, UsageError
from orchestrator.history import dataset
from tests.support.exported import BROKEN, FORMULA, SOUND, standing_in, workspace
from tests.support.folders import begun

DOCS = Path(__file__).parents[3] / "docs" / "how-to" / "read-and-share.md"
DAY = "2023-11-14"  # on which runs of tests begin, whatever they are called
ROWS = 2 * 3 * (1000 + 50)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workspace(tmp_path_factory.mktemp("workspace"))


@pytest.fixture(scope="module")
def shared(root: Path) -> Path:
    """A dataset of all three runs."""
    put(root, SOUND, BROKEN, FORMULA, to=str(root / "shared"))
    return root / "shared"


def part(table: str, experiment: str, started: str, run: str, number: int) -> str:
    return f"{dataset.folder_of(table, experiment, started, run)}/part-{number:05}.parquet"


def put(root: Path, *runs: str, **options: Any) -> Any:
    with standing_in(root) as (out, _):
        teams.publish(list(runs), **options, as_json=True)
        return json.loads(out.getvalue())


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_every_run_lies_in_partitions_of_each_table(shared: Path) -> None:
    found = files(shared)
    assert dataset.ABOUT in found
    for table in dataset.TABLES:
        mine = [path for path in found if path.startswith(f"{table}/")]
        assert len(mine) == 3
        assert f"{table}/experiment=synthetic/date={DAY}/run={SOUND}/part-00000.parquet" in mine
    escaped = "experiment=%3DHYPERLINK%28%22http%3A%2F%2Fexample.org%22%2C%22click%22%29"
    assert any(escaped in path for path in found)
    of_ours = [path for path in found if not path.endswith(".parquet")]
    assert all(path.startswith("_") for path in of_ours), "readers of datasets pass over these"


@pytest.mark.parametrize("table", dataset.TABLES)
def test_all_files_of_a_table_have_one_schema_and_no_partition_in_it(shared: Path, table: str) -> None:
    schemas = [pq.read_schema(path) for path in (shared / table).rglob("*.parquet")]
    assert all(schema.equals(schemas[0], check_metadata=True) for schema in schemas)
    assert schemas[0].names == [column.name for column in dataset.TABLES[table]]
    assert not set(dataset.PARTITIONS) & set(schemas[0].names)
    assert schemas[0].metadata[b"orch_dataset"] == str(dataset.VERSION).encode()


# The page's own queries, on what was really written.


def statements(language: str) -> list[str]:
    return [block.partition("```")[0] for block in DOCS.read_text(encoding="utf-8").split(f"```{language}\n")[1:]]


def test_the_example_for_duckdb_gives_the_medians_and_their_conditions(shared: Path) -> None:
    (query,) = (text for text in statements("sql") if "DATASET" in text)
    found = duckdb.sql(query.replace("DATASET", str(shared))).df()
    assert set(found["run"]) == {SOUND, BROKEN, FORMULA}
    assert not found[found["run"] == BROKEN]["stack"].str.startswith("rest").any(), "a check invalidates it"
    assert {"experiment", "run", "cpu", "stack", "requests", "median_ms"} <= set(found)
    assert set(found[found["run"] == SOUND]["requests"]) == {3 * 1000}
    cells = duckdb.sql(
        f"SELECT stack_id, median_ms FROM read_parquet('{shared}/cells/**/*.parquet', hive_partitioning = true) "  # noqa: S608 - names of ours
        f"WHERE run = '{SOUND}'"
    ).df()
    for _, row in found[found["run"] == SOUND].iterrows():
        (figure,) = cells[cells["stack_id"] == row["stack"]]["median_ms"]
        assert row["median_ms"] == pytest.approx(figure, rel=0.05), "the report's is a mean over trials"
    assert set(found["cpu"]) == {"Synthetic 3000"}


# Others' files, other versions, runs that may not leave.


def refused(root: Path, *runs: str, match: str, **options: Any) -> OrchError:
    with standing_in(root), pytest.raises((UsageError, MissingError), match=match) as error:
        teams.publish(list(runs), **options)
    return error.value


def test_a_folder_of_somebody_else_is_left_as_it_is(root: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    refused(root, SOUND, to=str(tmp_path), match="no dataset of orch")
    assert files(tmp_path) == {"thesis.txt": b"years of work"}
    refused(root, SOUND, to=str(tmp_path / "thesis.txt"), match="is a file")
    refused(root, SOUND, to=str(tmp_path / "thesis.txt" / "x"), match="Not a directory")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"version": 99}, "has schema 99"),
        ({"version": 0}, "has schema 0"),
        ({"what": "theirs"}, "not a dataset of orch"),
    ],
)
def test_a_dataset_of_another_schema_is_refused(
    root: Path, shared: Path, tmp_path: Path, change: dict[str, Any], match: str
) -> None:
    about = json.loads((shared / dataset.ABOUT).read_text())
    (tmp_path / dataset.ABOUT).write_text(json.dumps({**about, **change}))
    refused(root, SOUND, to=str(tmp_path), match=match)
    assert len(files(tmp_path)) == 1


def test_another_run_of_the_same_id_is_refused_unless_it_is_to_replace(
    root: Path, shared: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(shared, copy)
    row = copy / part("runs", "synthetic", DAY, SOUND, 0)
    table = pq.read_table(row, partitioning=None)
    place = table.schema.get_field_index("manifest_sha256")
    pq.write_table(table.set_column(place, table.schema.field(place), [["0" * 64]]), row)
    surplus = copy / part("samples", "synthetic", DAY, SOUND, 7)
    surplus.write_text("of the other run")
    error = refused(root, SOUND, to=str(copy), match="holds another run")
    assert "--replace" in (error.hint or "")
    (told,) = put(root, SOUND, to=str(copy), replace=True)["runs"]
    assert told["dataset"]["outcome"] == "replaced"
    assert not surplus.exists()
    assert pq.read_table(row, partitioning=None).equals(table)


@pytest.mark.slow
def test_people_who_publish_at_once_lose_nothing(root: Path, tmp_path: Path) -> None:
    program = [sys.executable, "-c", "from orchestrator.cli.main import main; main()", "runs", "publish"]
    environment = {**os.environ, "PYTHONPATH": str(DOCS.parents[2])}
    calls = [
        subprocess.Popen(
            [*program, run, "--to", str(tmp_path / "x")], cwd=root, env=environment, stderr=subprocess.PIPE
        )
        for run in (SOUND, BROKEN, FORMULA, SOUND)
    ]
    said = [call.communicate()[1] for call in calls]
    assert [call.returncode for call in calls] == [0] * 4, said
    assert len(list((tmp_path / "x" / "runs").rglob("*.parquet"))) == 3
    assert put(root, SOUND, to=str(tmp_path / "x"))["runs"][0]["dataset"]["outcome"] == "there already"


def test_unpublishing_removes_what_orch_put_there_and_nothing_else(root: Path, shared: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(shared, copy)
    partition = copy / "samples" / "experiment=synthetic" / f"date={DAY}" / f"run={SOUND}"
    (partition / "theirs.parquet").write_text("mine")
    (copy / "precious").write_text("mine")
    with standing_in(root):
        with pytest.raises(UsageError, match="nobody can be asked"):
            teams.unpublish([SOUND], to=str(copy))
        teams.unpublish([SOUND], to=str(copy), yes=True)
    assert [path.name for path in partition.iterdir()] == ["theirs.parquet"]
    assert (copy / "precious").exists()
    assert not (copy / "runs" / "experiment=synthetic").exists()
    assert len(list((copy / "runs").rglob("*.parquet"))) == 2
    with standing_in(root), pytest.raises(UsageError, match="not published there"):
        teams.unpublish([SOUND], to=str(copy), yes=True)


def test_runs_that_may_not_leave_are_refused(root: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    held = begun(results)
    refused(tmp_path, held.id, to=str(tmp_path / "x"), match="still in progress")
    held.release()
    (results / "half").mkdir()
    (results / "half" / "journal.jsonl").write_text('{"event":"begin"')
    with standing_in(tmp_path), pytest.raises(OrchError):
        teams.publish(["half"], to=str(tmp_path / "x"))
    refused(tmp_path, "absent", to=str(tmp_path / "x"), match="no run 'absent'")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("to", "match"),
    [
        (None, "say where to"),
        ("", "names no place"),
        ("ftp://host/x", "knows no ftp"),
        ("s3://me:secret@bucket/x", "no user and no key"),
        ("s3://bucket/x?access_key=secret", "no user and no key"),
        ("s3:///x", "is no place"),
    ],
)
def test_what_is_no_place_is_refused(root: Path, to: str | None, match: str) -> None:
    error = refused(root, SOUND, to=to, match=match)
    assert "secret" not in error.message + str(error.hint)
