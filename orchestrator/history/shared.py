"""A team's index: the tables of `index` at a URL, into which several people publish runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlalchemy import URL, make_url
from sqlalchemy.exc import SQLAlchemyError

from orchestrator.errors import MissingError, UsageError, on_one_line
from orchestrator.findings.summary import RunSummary
from orchestrator.history import run_record
from orchestrator.history.index import VERSION, Index, engine_of
from orchestrator.history.record import RunRecord
from orchestrator.results.folder import RunFolder

VARIABLE = "ORCH_INDEX"
_EXAMPLE = "postgresql://user@host:5432/name"
_MOST_OF_AN_ERROR = 300  # characters


def team_url() -> URL:
    """The URL in the environment, where it may have a password; UsageError where there is none."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        raise UsageError(f"{VARIABLE} names no index", hint=f"{VARIABLE}={_EXAMPLE}")
    try:
        return make_url(text)
    except (SQLAlchemyError, ValueError):
        raise UsageError("the index's address is no URL of a database", hint=f"such as {_EXAMPLE}") from None


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
    version = index.version()
    if version is None and makes:
        index.make()
    elif version is None:
        raise MissingError(f"{where}: nothing was published there", hint="`orch runs publish RUN` does")
    elif not version:
        raise UsageError(f"{where} holds other tables", hint="name an empty database")
    elif version != str(VERSION):
        raise UsageError(
            f"{where} has tables of version {version}; this orch has version {VERSION}",
            hint="use that orch, or publish the runs to an empty database",
        )


def record_of(folder: RunFolder, summary: RunSummary) -> RunRecord:
    """The run as it leaves the machine: from manifest and samples, which name no host, person or folder.

    UsageError while it is in progress; InvalidMeasurement where a file of it is damaged.
    """
    if folder.is_in_progress:
        raise UsageError(f"run {folder.id} is still in progress", hint="wait until it has ended")
    record = replace(run_record.read_run(folder), **run_record.of_summary(summary), trouble="")
    return replace(record, id=summary.run.id)


def publish(index: Index, record: RunRecord) -> None:
    """Put a run into the index, in the place of what is there of its id."""
    with index.writing():
        index.put(record, "", record.manifest_sha256)


def withdraw(index: Index, run: str) -> bool:
    """Remove a run; whether it was there."""
    with index.writing():
        return index.forget(run)
