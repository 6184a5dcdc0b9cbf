"""A team's index: the tables of `index` at a URL, into which several people publish runs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Literal

from sqlalchemy import URL, make_url
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from orchestrator.errors import MissingError, UsageError, on_one_line
from orchestrator.findings.summary import RunSummary
from orchestrator.history import run_record
from orchestrator.history.index import VERSION, Index, engine_of
from orchestrator.history.record import RunRecord
from orchestrator.results.folder import RunFolder

VARIABLE = "ORCH_INDEX"
_EXAMPLE = "postgresql://user@host:5432/name"
_MOST_OF_AN_ERROR = 300  # characters

Outcome = Literal["published", "replaced", "there already"]


def chosen(given: str | None, *, of_team: bool) -> URL | None:
    """The URL that was given, or (`of_team`) that of the environment; None where neither is wanted.

    UsageError where there is none, and for one with a password on the command line, where every user of the machine sees it.
    """
    text = given if given is not None else os.environ.get(VARIABLE, "") if of_team else None
    if text is None:
        return None
    if not text:
        raise UsageError(f"{VARIABLE} names no index", hint=f"{VARIABLE}={_EXAMPLE}")
    try:
        url = make_url(text)
    except (SQLAlchemyError, ValueError):
        raise UsageError("the index's address is no URL of a database", hint=f"such as {_EXAMPLE}") from None
    if given is not None and url.password:
        raise UsageError(
            "an address with its password would be seen by every user of this machine",
            hint=f"give it in the environment: {VARIABLE}=postgresql://..., with --team; or use a .pgpass file",
        )
    return url


@contextmanager
def shared(url: URL, *, makes: bool = False) -> Iterator[Index]:
    """The index there; where it `makes`, the tables are made in an empty database.

    UsageError for a database that holds something else, or tables of another version; MissingError for what the server
    refuses, and where nothing was published yet.
    """
    where = f"the index at {url.render_as_string(hide_password=True)}"
    try:
        index = Index(engine_of(url))
    except (SQLAlchemyError, ImportError) as error:
        raise UsageError(f"{where}: {error}", hint=f"such as {_EXAMPLE}") from None
    try:
        _require_tables(index, where, makes=makes)
        yield index
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        raise MissingError(
            f"{where}: {on_one_line(str(cause), _MOST_OF_AN_ERROR)}",
            hint="is the server up, and may this user do that? docs/how-to/read-and-share.md lists the rights",
        ) from None
    finally:
        index.close()


def _require_tables(index: Index, where: str, *, makes: bool) -> None:
    state, version = index.state()
    if state == "empty" and makes:
        try:
            index.make()
        except SQLAlchemyError:  # another orch may have made them meanwhile
            if index.state()[0] != "current":
                raise
    elif state == "empty":
        raise MissingError(f"{where}: nothing was published there", hint="`orch runs publish RUN` does")
    elif state == "no index":
        raise UsageError(f"{where} holds other tables", hint="name an empty database")
    elif state == "other version":
        raise UsageError(
            f"{where} has tables of version {version or 'unknown'}; this orch has version {VERSION}",
            hint="use that orch, or publish the runs to an empty database",
        )


def record_of(folder: RunFolder, summary: RunSummary) -> RunRecord:
    """The run as it leaves the machine: from manifest and samples, which name no host, person or folder.

    UsageError while it is in progress; InvalidMeasurement where a file of it is damaged.
    """
    if folder.is_in_progress:
        raise UsageError(f"run {folder.id} is still in progress", hint="wait until it has ended")
    record = replace(run_record.read_run(folder), **run_record.of_summary(summary), trouble="")
    digest = record.manifest_sha256
    if not digest:  # of a run that was killed, and has no manifest.json yet
        document = json.dumps(asdict(folder.manifest()), sort_keys=True, allow_nan=False)
        digest = hashlib.sha256(document.encode()).hexdigest()
    return replace(record, id=summary.run_id, run_id=summary.run_id, manifest_sha256=digest)


def publish(index: Index, record: RunRecord, *, replace: bool = False) -> Outcome:
    """Add a run. UsageError where another run of its id is there, unless `replace`.

    Two runs are the same where the digests of their manifests are.
    """
    try:
        return _publish(index, record, replace=replace)
    except IntegrityError:  # somebody published it at the same moment
        return _publish(index, record, replace=replace)


def _publish(index: Index, record: RunRecord, *, replace: bool) -> Outcome:
    with index.writing():
        there = index.digest(record.id)
        if there is not None and not replace:
            if there == record.manifest_sha256:
                return "there already"
            raise UsageError(
                f"the index holds another run {record.id}: its manifest has another digest",
                hint="--replace puts this one in its place; look at both before",
            )
        index.put(record, "", record.manifest_sha256)
    return "published" if there is None else "replaced"


def withdraw(index: Index, run: str) -> bool:
    """Remove a run; whether it was there."""
    with index.writing():
        is_there = index.digest(run) is not None
        index.forget(run)
    return is_there
