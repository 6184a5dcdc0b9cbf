"""A team's index: the tables of `tables`, in a PostgreSQL that several people's runs are published to.

They lie in a schema of their own, which carries a mark of ours with the version of the tables: one of that name without the
mark, of another version or of another shape is refused and left as it is, and nothing outside of it is read or written.
Names are looked for in PostgreSQL's own catalogue and nowhere else, so that no function and no operator that somebody put
beside the tables is called; tables are named with their schema. Passwords are in no message.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, ClassVar, Literal

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from orchestrator.errors import MissingError, UsageError, on_one_line
from orchestrator.history import tables
from orchestrator.history.filters import Filters
from orchestrator.history.index import Index
from orchestrator.history.record import Listed, Note, RunRecord, Seen
from orchestrator.shapes import decode

VARIABLE = "ORCH_INDEX"
SCHEMA = "orch"
OLDEST = 16
_MARK = "made by orch: index of runs, version "
_LOCK = 0x6F72_6369  # of those who write; PostgreSQL's advisory locks are of one database
_CONNECT_S = 5
_SETTINGS = "SET statement_timeout = 60000", "SET lock_timeout = 15000"  # ms
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_OF_OURS = re.compile(rf"\b(FROM|JOIN|INTO) (?=(?:{'|'.join(tables.COLUMNS)})\b)")
_UNFIT = re.compile("[\0\ud800-\udfff]")  # what PostgreSQL's text cannot hold
_MOST_OF_AN_ERROR = 300  # characters
_RIGHTS = "ask whoever runs the server for it (docs/teams.md lists the rights)"
_EXAMPLE = "such as postgresql://user@host:5432/name"

Access = Literal["read", "change", "make"]
Outcome = Literal["published", "replaced", "there already"]

_SHAPE = """
SELECT c.relname AS "table", c.relkind AS kind, a.attname AS "column", pg_catalog.format_type(a.atttypid, NULL) AS type
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = ?) AND c.relkind NOT IN ('i', 'I', 't')
"""
_ACTING = """
SELECT 1 FROM pg_catalog.pg_class c
WHERE c.relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = ?) AND (
    c.relrowsecurity
    OR EXISTS (SELECT 1 FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
    OR EXISTS (SELECT 1 FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid)
    OR EXISTS (SELECT 1 FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid)
    OR EXISTS (SELECT 1 FROM pg_catalog.pg_attrdef d WHERE d.adrelid = c.oid)
    OR EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype IN ('c', 'x', 't'))
    OR EXISTS (SELECT 1 FROM pg_catalog.pg_constraint f JOIN pg_catalog.pg_class o ON o.oid IN (f.conrelid, f.confrelid)
               WHERE f.contype = 'f' AND c.oid IN (f.conrelid, f.confrelid) AND o.relnamespace <> c.relnamespace)
    OR EXISTS (SELECT 1 FROM pg_catalog.pg_index i
               WHERE i.indrelid = c.oid AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL))
    OR EXISTS (SELECT 1 FROM pg_catalog.pg_inherits h WHERE c.oid IN (h.inhrelid, h.inhparent))
) LIMIT 1
"""
"""What can call a function of a table's owner with the rights of whoever reads or writes it, or lead to another table.

A foreign key of another table does: what is deleted here is deleted there, where a deferred trigger acts with our rights.
"""


class SharedIndex(Index):
    """The tables in PostgreSQL, open. Rows of runs have no path: their folders lie with whoever made them."""

    _BEGIN: ClassVar[str] = "BEGIN"
    _ERRORS: ClassVar[tuple[type[Exception], ...]] = (psycopg.Error,)

    def __init__(self, connection: tables.Connection, schema: str, where: str) -> None:
        super().__init__(connection)
        self._schema, self._where = schema, where

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All that is written within the block, or nothing of it, into tables that are as orch made them until it ends."""
        with super().writing():
            self._hold("ROW EXCLUSIVE")
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read within the block is read of tables that are as orch made them until it ends."""
        self._connection.execute("BEGIN READ ONLY")
        self._hold("ACCESS SHARE")
        yield
        self._connection.execute("COMMIT")

    def _hold(self, mode: str) -> None:
        """Nobody changes the tables from here on; errors as `_require_shape`."""
        names = ", ".join(f'"{self._schema}".{name}' for name in tables.COLUMNS)
        try:
            self._connection.execute(f"LOCK TABLE {names} IN {mode} MODE")
        except (psycopg.errors.UndefinedTable, psycopg.errors.WrongObjectType):
            self._connection.execute("ROLLBACK")
            _require_shape(self._connection, self._schema, self._where)
            raise
        _require_shape(self._connection, self._schema, self._where)

    def publish(
        self, record: RunRecord, *, tags: Iterable[str] = (), notes: Iterable[Note] = (), replace: bool = False
    ) -> Outcome:
        """Add a run with what was noted of it, or nothing. UsageError where another of its id is there, unless `replace`.

        A run is the same where its manifest's digest is.
        """
        with self.writing():
            self._connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
            there = self.digest(record.id)
            if there is not None and not replace:
                if there == record.manifest_sha256:
                    return "there already"
                raise UsageError(
                    f"the index holds another run {record.id}: its manifest has another digest",
                    hint="--replace puts this one in its place; look at both before",
                )
            self.remove(record.id)
            self.put(record, "", record.manifest_sha256)
            self._tag(record.id, tags)
            self._note(record.id, notes)
        return "published" if there is None else "replaced"

    def withdraw(self, run: str) -> bool:
        """Remove a run and what was noted of it; whether it was there."""
        with self.writing():
            is_there = self.digest(run) is not None
            self.remove(run)
        return is_there

    def digest(self, run: str) -> str | None:
        """The digest of a run's manifest; None where the run is not there."""
        found = self._connection.execute("SELECT manifest_sha256 FROM runs WHERE id = ?", (run,)).fetchone()
        return None if found is None else str(found["manifest_sha256"])

    def remove(self, run: str) -> None:
        """Remove a run, its notes and tags."""
        self.forget(run)
        for table in ("tags", "notes"):
            self._connection.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608 - names of ours

    def runs(self, wanted: Filters) -> list[Listed]:
        """See `Index.runs`; MissingError for rows that no orch wrote."""
        with self._as_written():
            return [decode(Listed, asdict(run)) for run in super().runs(wanted)]

    def seen(self, word: str, wanted: Filters) -> dict[str, list[Seen]]:
        """See `Index.seen`; MissingError for rows that no orch wrote."""
        with self._as_written():
            return {
                key: [decode(Seen, asdict(of)) for of in every] for key, every in super().seen(word, wanted).items()
            }

    def _all(self, query: str, values: Iterable[Any]) -> list[Any]:
        return self._connection.execute(query, tuple(values)).fetchall()

    def _not_ours(self, error: Exception) -> MissingError:
        return MissingError(
            f"the index holds a row that orch did not write: {on_one_line(str(error), _MOST_OF_AN_ERROR)}",
            hint="publish that run again with --replace, or take it out with `orch unpublish`",
        )


class _Connection:
    """A `tables.Connection`: tables with their schema, psycopg's places for values, and values that columns hold."""

    def __init__(self, connection: psycopg.Connection[dict[str, Any]], schema: str) -> None:
        self._connection = connection
        self._schema = schema

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> tables.Cursor:
        whole = _OF_OURS.sub(rf'\1 "{self._schema}".', statement)
        return self._connection.execute(whole.replace("?", "%s").encode(), [_fitting(of) for of in values] or None)

    def close(self) -> None:
        self._connection.close()


def named(dsn: str) -> str:
    """A database in words that hold no password; UsageError for what is no DSN, and where a password may be cut in two."""
    try:
        of = conninfo_to_dict(dsn)
    except psycopg.Error:
        raise UsageError("the index's address is no DSN of PostgreSQL", hint=_EXAMPLE) from None
    if any("@" in str(of.get(part) or "")[1:] for part in ("host", "hostaddr", "dbname")) or not re.fullmatch(
        r"[\d,]*", str(of.get("port") or "")
    ):
        raise UsageError(
            "the index's address cannot be read", hint="a password writes @ as %40, / as %2F, : as %3A and % as %25"
        )
    at = of.get("host") or of.get("hostaddr") or "this machine"
    return f"the index in {of.get('dbname') or of.get('user') or 'the default database'} at {at}"


def chosen(given: str | None, *, of_team: bool) -> str | None:
    """The DSN that was given, or (`of_team`) that of the environment; None where neither was asked for.

    UsageError where there is none, and for one with a password on the command line, where every user of the machine sees it.
    """
    if given is not None:
        named(given)
        if conninfo_to_dict(given).get("password"):
            raise UsageError(
                "an address with its password would be seen by every user of this machine",
                hint=f"give it in the environment: {VARIABLE}=postgresql://..., with --team; or use a .pgpass file",
            )
        return given
    if not of_team:
        return None
    if not (dsn := os.environ.get(VARIABLE)):
        raise UsageError(f"{VARIABLE} names no index", hint=f"{VARIABLE}=postgresql://user@host:5432/name")
    return dsn


@contextmanager
def shared(dsn: str, schema: str = SCHEMA, *, access: Access) -> Iterator[SharedIndex]:
    """The index there; to `make`, it is made if it is not there, and to `read`, nothing can be written.

    UsageError for an address or a schema that cannot be, and a schema that is not ours; MissingError for what the server
    does not let us do, and where it does not answer within some seconds.
    """
    where = f"{named(dsn)}, schema {schema}"
    if not _NAME.fullmatch(schema) or schema.lower().startswith("pg_"):
        raise UsageError(
            f"--schema {schema!r} cannot be a schema", hint="letters, digits and _, at most 63, not pg_..."
        )
    with (
        _explained(where, dsn),
        psycopg.connect(
            dsn, autocommit=True, connect_timeout=_CONNECT_S, row_factory=dict_row, application_name="orch"
        ) as opened,
    ):
        if opened.info.server_version < OLDEST * 10_000:
            raise MissingError(
                f"{where} is PostgreSQL {opened.info.server_version // 10_000}", hint=f"{OLDEST} or newer is needed"
            )
        connection = _Connection(opened, schema)
        for setting in (*_SETTINGS, "SET search_path = pg_catalog"):
            connection.execute(setting)
        if access == "read":
            connection.execute("SET default_transaction_read_only = on")
        if not _is_there(connection, schema, where):
            if access != "make":
                raise MissingError(f"{where}: nothing was published there", hint="`orch publish RUN` does")
            _make(connection, schema, where)
        index = SharedIndex(connection, schema, where)
        if access == "read":
            with index.reading():
                yield index
        else:
            _require_shape(connection, schema, where)
            yield index


def _is_there(connection: _Connection, schema: str, where: str) -> bool:
    """Whether the index is there; UsageError where a schema of that name is another's, or of another version."""
    found = connection.execute(
        "SELECT pg_catalog.obj_description(oid, 'pg_namespace') AS mark, "
        "pg_catalog.has_schema_privilege(oid, 'USAGE') AS is_open FROM pg_catalog.pg_namespace WHERE nspname = ?",
        (schema,),
    ).fetchone()
    if found is None:
        return False
    begin, mark, version = str(found["mark"] or "").partition(_MARK)
    if begin or not mark or not version.isdecimal():
        raise UsageError(f"{where}: orch did not make this schema; it is left as it is", hint="name another: --schema")
    if int(version) > tables.VERSION:
        raise UsageError(
            f"{where}: a newer orch made it (version {version}; this one reads {tables.VERSION})",
            hint="install that orch",
        )
    if int(version) != tables.VERSION:
        raise UsageError(
            f"{where}: an older orch made it (version {version}; this one writes {tables.VERSION})",
            hint="publish the runs to another schema: --schema",
        )
    if not found["is_open"]:
        raise MissingError(f"{where}: no right to do that: this user has no USAGE of the schema", hint=_RIGHTS)
    return True


def _make(connection: _Connection, schema: str, where: str) -> None:
    """All of it in one transaction: a schema with our mark is whole. Another orch may be making it at the same time."""
    connection.execute("BEGIN")
    try:
        connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
        if not _is_there(connection, schema, where):
            connection.execute(f'CREATE SCHEMA "{schema}"')
            connection.execute(f"COMMENT ON SCHEMA \"{schema}\" IS '{_MARK}{tables.VERSION}'")
            for statement in tables.statements(tables.POSTGRESQL, f'"{schema}".'):
                connection.execute(statement)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _require_shape(connection: tables.Connection, schema: str, where: str) -> None:
    """UsageError where the schema holds other tables than ours, or something that acts when they are written."""
    types = {"text": "text", "whole": "bigint", "real": "double precision"}
    ours = {(table, "r", name, types[kind]) for table, of in tables.COLUMNS.items() for name, kind in of.items()}
    there = {
        (row["table"], _text(row["kind"]), row["column"], row["type"])
        for row in connection.execute(_SHAPE, (schema,)).fetchall()
    }
    strange = sorted(f"{table}.{column}" for table, _, column, _ in ours ^ there)
    if not strange and connection.execute(_ACTING, (schema,)).fetchone():
        strange = ["something that acts when it is read or written"]
    if strange:
        raise UsageError(
            f"{where}: it was changed since orch made it ({', '.join(strange[:3])}); it is left as it is",
            hint="name another: --schema",
        )


@contextmanager
def _explained(where: str, dsn: str) -> Iterator[None]:
    """MissingError in place of what psycopg raises, without the password."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise MissingError(
            f"{where}: no right to do that: {_words(error, dsn)}",
            hint=_RIGHTS,
        ) from None
    except (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled) as error:
        raise MissingError(
            f"{where}: somebody else holds it for too long: {_words(error, dsn)}", hint="try again"
        ) from None
    except psycopg.errors.ReadOnlySqlTransaction as error:
        raise MissingError(f"{where} is read-only: {_words(error, dsn)}", hint="name a server that writes") from None
    except psycopg.Error as error:
        raise MissingError(
            f"{where}: {type(error).__name__}: {_words(error, dsn)}",
            hint="is the server up, and may this user use it? psql with the same address tells more",
        ) from None


def _words(error: psycopg.Error, dsn: str) -> str:
    text = on_one_line(str(error), _MOST_OF_AN_ERROR) or "no more is known"
    of = conninfo_to_dict(dsn)
    for secret in (of.get("password"), of.get("sslpassword"), os.environ.get("PGPASSWORD")):
        if secret:
            text = text.replace(str(secret), "<secret>")
    return text


def _fitting(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return _UNFIT.sub("\ufffd", value) if isinstance(value, str) else value


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
