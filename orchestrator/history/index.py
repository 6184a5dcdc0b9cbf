"""The index of runs: the tables of `tables` in the database of a URL, here an SQLite file, for a team PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Executable,
    RowMapping,
    create_engine,
    delete,
    event,
    func,
    insert,
    inspect,
    or_,
    select,
)
from sqlalchemy.engine import URL

from orchestrator.disk import whole_file
from orchestrator.errors import UsageError
from orchestrator.history import rows
from orchestrator.history.filters import Filters, condition, lower
from orchestrator.history.record import Listed, Note, RunRecord, Seen
from orchestrator.history.tables import ABOUT, CELLS, ENVIRONMENTS, METADATA, NOTES, RUNS, TAGS, VERSION

_WAIT_S = 10  # for another orch that is writing

Known = Literal["experiment", "stack", "placement", "tag"]
_KNOWN: dict[Known, tuple[Column[Any], ...]] = {
    "experiment": (RUNS.c.name,),
    "stack": (CELLS.c.stack_label, CELLS.c.stack),
    "placement": (CELLS.c.placement,),
    "tag": (TAGS.c.tag,),
}

State = Literal["empty", "current", "other version", "no index"]


class Index:
    """The tables, open. `trouble`: why they are kept in memory only, as a clause; "" where they are kept."""

    def __init__(self, engine: Engine, *, trouble: str = "") -> None:
        self._engine = engine
        self._connection: Connection | None = None
        self.trouble = trouble

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction: all that is written within the block, or nothing of it."""
        with self._engine.begin() as connection:
            self._connection = connection
            try:
                yield connection
            finally:
                self._connection = None

    def state(self) -> tuple[State, str]:
        """What the database holds, and the version of its tables."""
        names = set(inspect(self._connection or self._engine).get_table_names())
        if not names:
            return "empty", ""
        if ABOUT.name not in names:
            return "no index", ""
        version = self.about("version")
        return ("current" if version == str(VERSION) else "other version"), version

    def make(self) -> None:
        """Make the tables."""
        with self.writing() as connection:
            METADATA.create_all(connection, checkfirst=False)
            connection.execute(insert(ABOUT), {"name": "version", "value": str(VERSION)})

    def signatures(self) -> dict[str, str]:
        """By run, the signature of its folder when it was read."""
        with self._engine.connect() as connection:
            return {row[0]: row[1] for row in connection.execute(select(RUNS.c.id, RUNS.c.signature))}

    def about(self, name: str) -> str:
        """What was noted of the index itself; "" where nothing was."""
        return "".join(row["value"] for row in self._all(select(ABOUT.c.value).where(ABOUT.c.name == name)))

    def put(self, record: RunRecord, path: Path | str, signature: str) -> None:
        """Replace what is known of a run."""
        self.forget(record.id)
        self._insert(RUNS, [{**rows.of_run(record), "path": str(path), "signature": signature}])
        self._insert(ENVIRONMENTS, [rows.of_environment(record)])
        cells = {cell.cell: cell for cell in record.cells}.values()
        self._insert(CELLS, [rows.of_cell(record.id, cell) for cell in cells])

    def forget(self, run: str) -> None:
        """Remove a run, but for its notes and tags."""
        self._write(delete(RUNS).where(RUNS.c.id == run))

    def annotate(self, signature: str, tags: Mapping[str, Iterable[str]], notes: Mapping[str, Iterable[Note]]) -> None:
        """Replace all tags and notes, by run; `signature` is that of their files."""
        for statement in (delete(TAGS), delete(NOTES), delete(ABOUT).where(ABOUT.c.name == "notes")):
            self._write(statement)
        for run in tags.keys() | notes.keys():
            self.note(run, tags.get(run, ()), notes.get(run, ()))
        self._insert(ABOUT, [{"name": "notes", "value": signature}])

    def note(self, run: str, tags: Iterable[str], notes: Iterable[Note]) -> None:
        """Add tags and notes to a run that has none."""
        self._insert(TAGS, [{"run": run, "tag": tag} for tag in dict.fromkeys(tags)])
        written = [{"run": run, "place": place, "at": note.at, "text": note.text} for place, note in enumerate(notes)]
        self._insert(NOTES, written)

    def remove(self, run: str) -> None:
        """Remove a run, its notes and tags."""
        self.forget(run)
        self._write(delete(TAGS).where(TAGS.c.run == run))
        self._write(delete(NOTES).where(NOTES.c.run == run))

    def digest(self, run: str) -> str | None:
        """The SHA-256 of a run's manifest; None where the run is not in the index."""
        digests = self._all(select(RUNS.c.manifest_sha256).where(RUNS.c.id == run))
        return str(digests[0]["manifest_sha256"]) if digests else None

    def runs(self, wanted: Filters) -> list[Listed]:
        """The runs that a listing shows, newest first; runs without a time are last."""
        query = select(RUNS).where(condition(wanted)).order_by(RUNS.c.started.desc(), RUNS.c.id.desc())
        if wanted.limit is not None:
            query = query.limit(wanted.limit).offset(wanted.offset)
        tags, notes = self._tags(), self._notes()
        return [rows.listed(row, tags.get(row["id"], ()), notes.get(row["id"], ())) for row in self._all(query)]

    def count(self, wanted: Filters) -> int:
        """How many runs the conditions choose, whatever the limit."""
        return int(self._all(select(func.count().label("n")).select_from(RUNS).where(condition(wanted)))[0]["n"])

    def cells(self, wanted: Filters | None = None) -> list[tuple[str, str, str, int]]:
        """Each cell that runs measured: its id, stack and label, and its number of runs; those of most runs first.

        Of the chosen runs; of a chosen stack or placement only its own cells.
        """
        wanted = wanted or Filters()
        query = (
            select(
                func.min(CELLS.c.cell).label("cell"),
                func.min(CELLS.c.stack).label("stack"),
                func.min(CELLS.c.label).label("label"),
                func.count().label("n"),
            )
            .join_from(CELLS, RUNS)
            .where(condition(wanted))
            .group_by(CELLS.c.measures)
            .order_by(func.count().desc(), func.min(CELLS.c.label), func.min(CELLS.c.cell))
        )
        if wanted.stack is not None:
            query = query.where(or_(CELLS.c.stack == wanted.stack, CELLS.c.stack_label == wanted.stack))
        if wanted.placement is not None:
            query = query.where(CELLS.c.placement == wanted.placement)
        return [(row["cell"], row["stack"], row["label"], row["n"]) for row in self._all(query)]

    def known(self, kind: Known) -> list[str]:
        """The values that a condition of `Filters` may have, for suggestions: names of experiments, stacks, ..."""
        words = {row["word"] for column in _KNOWN[kind] for row in self._all(select(column.label("word")).distinct())}
        return sorted(words - {""})

    def seen(self, word: str, wanted: Filters) -> dict[str, list[Seen]]:
        """The cells of that id, beginning of an id, stack or stack label, oldest run first, by what they measure."""
        chosen = CELLS.alias("chosen")
        measures = select(chosen.c.measures).where(
            or_(
                func.lower(chosen.c.cell).startswith(lower(word), autoescape=True),
                chosen.c.stack == word,
                chosen.c.stack_label == word,
            )
        )
        of_run = (RUNS.c.started, RUNS.c.state, RUNS.c.is_ours, RUNS.c.matters)
        query = (
            select(CELLS, *of_run, ENVIRONMENTS.c.conditions, ENVIRONMENTS.c.settings)
            .join_from(CELLS, RUNS)
            .join(ENVIRONMENTS, ENVIRONMENTS.c.run == RUNS.c.id)
            .where(CELLS.c.measures.in_(measures), condition(wanted))
            .order_by(RUNS.c.started, RUNS.c.id)
        )
        cells: dict[str, list[Seen]] = {}
        for row in self._all(query):
            cells.setdefault(row["measures"], []).append(rows.seen(row))
        return cells

    def _tags(self) -> dict[str, tuple[str, ...]]:
        tags: dict[str, tuple[str, ...]] = {}
        for row in self._all(select(TAGS).order_by(TAGS.c.run, TAGS.c.tag)):
            tags[row["run"]] = (*tags.get(row["run"], ()), row["tag"])
        return tags

    def _notes(self) -> dict[str, tuple[Note, ...]]:
        notes: dict[str, tuple[Note, ...]] = {}
        for row in self._all(select(NOTES).order_by(NOTES.c.run, NOTES.c.place)):
            notes[row["run"]] = (*notes.get(row["run"], ()), Note(at=row["at"], text=row["text"]))
        return notes

    def _insert(self, table: Any, values: list[dict[str, Any]]) -> None:
        if values:
            self._write(insert(table), values)

    def _write(self, statement: Any, values: list[dict[str, Any]] | None = None) -> None:
        assert self._connection is not None, "only within `writing`"  # noqa: S101 - of ours
        self._connection.execute(statement, values)

    def _all(self, query: Executable) -> Sequence[RowMapping]:
        if self._connection is not None:
            return self._connection.execute(query).mappings().all()
        with self._engine.connect() as connection:
            return connection.execute(query).mappings().all()


def engine_of(url: URL | str) -> Engine:
    """The engine of a URL; SQLite keeps foreign keys and waits for other writers."""
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":

        @event.listens_for(engine, "connect")
        def settle(connection: Any, _: object) -> None:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA busy_timeout = {_WAIT_S * 1000}")

    return engine


def open_file(path: Path) -> Index:
    """The index in that file, made where there is none, and made anew where it is one of another version.

    UsageError for a file that is no index; SQLAlchemy's errors where it cannot be read or written.
    """
    index = _at(path)
    try:
        state, _ = index.state()
        if state == "no index":
            raise UsageError(f"{path} is no index of runs", hint="move it away, or: orch history --rebuild")
    except BaseException:
        index.close()
        raise
    if state == "current":
        return index
    index.close()
    remove(path)
    with whole_file(path) as partial:  # another orch sees all tables, or none
        new = _at(partial)
        new.make()
        new.close()
    return _at(path)


def _at(path: Path) -> Index:
    return Index(engine_of(URL.create("sqlite", database=str(path))))


def in_memory(trouble: str = "") -> Index:
    """Empty tables in memory."""
    index = Index(engine_of("sqlite://"), trouble=trouble)
    index.make()
    return index


def remove(path: Path) -> None:
    """Remove the file and what SQLite may have left beside it."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
