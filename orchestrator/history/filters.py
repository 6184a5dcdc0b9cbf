"""Which runs a listing shows, as a condition on the tables of the index."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import ColumnElement, and_, func, or_, select, true

from orchestrator.errors import UsageError, did_you_mean
from orchestrator.history.record import VALIDITIES
from orchestrator.history.tables import CELLS, NOTES, RUNS, TAGS

_MOST_WORDS = 8
_SEARCHED = ("id", "name", "question", "verdict", "stacks", "placements", "state")


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Every condition that is given must hold. `since` and `until` are as `moment_of` gives them; `until` is excluded.

    `text`: words that must all be found in a run's id, experiment, question, answer, state, stacks, placements, tags or
    notes, whatever their case.
    """

    experiment: str | None = None
    stack: str | None = None
    placement: str | None = None
    host: str | None = None
    since: str | None = None
    until: str | None = None
    verdict: str | None = None
    tag: str | None = None
    run: str | None = None
    text: str | None = None
    limit: int | None = None
    offset: int = 0


def condition(wanted: Filters) -> ColumnElement[bool]:
    """The condition on the table `runs`."""
    conditions: list[ColumnElement[bool]] = [true()]
    if wanted.experiment is not None:
        conditions.append(func.lower(RUNS.c.name) == lower(wanted.experiment))
    if wanted.stack is not None:
        is_stack = or_(CELLS.c.stack == wanted.stack, CELLS.c.stack_label == wanted.stack)
        conditions.append(RUNS.c.id.in_(select(CELLS.c.run).where(is_stack)))
    if wanted.placement is not None:
        conditions.append(RUNS.c.id.in_(select(CELLS.c.run).where(CELLS.c.placement == wanted.placement)))
    if wanted.host is not None:
        conditions.append(or_(RUNS.c.provider == wanted.host, _has(RUNS.c.hosts, wanted.host)))
    if wanted.since is not None:
        conditions.append(RUNS.c.started >= wanted.since)
    if wanted.until is not None:
        conditions += [RUNS.c.started < wanted.until, RUNS.c.started != ""]
    if wanted.verdict is not None:
        conditions.append(RUNS.c.validity == wanted.verdict)
    if wanted.tag is not None:
        conditions.append(RUNS.c.id.in_(select(TAGS.c.run).where(TAGS.c.tag == wanted.tag)))
    if wanted.run is not None:
        conditions.append(RUNS.c.id == wanted.run)
    for word in (wanted.text or "").split()[:_MOST_WORDS]:
        conditions.append(
            or_(
                *(_has(RUNS.c[name], word) for name in _SEARCHED),
                RUNS.c.id.in_(select(TAGS.c.run).where(_has(TAGS.c.tag, word))),
                RUNS.c.id.in_(select(NOTES.c.run).where(_has(NOTES.c.text, word))),
            )
        )
    return and_(*conditions)


def _has(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    return func.lower(column).contains(lower(text), autoescape=True)


def lower(text: str) -> str:
    """With A to Z in lower case and nothing else, as `lower` of the index has it."""
    return re.sub(r"[A-Z]", lambda match: match[0].lower(), text)


def moment_of(text: str | None, option: str, *, is_end: bool = False) -> str | None:
    """A day or a time that somebody gave, as the index holds times (UTC); as an end, a day counts whole.

    >>> moment_of("2026-11-21", "--until", is_end=True), moment_of("2026-11-21T10:00+01:00", "--since")
    ('2026-11-22T00:00:00+00:00', '2026-11-21T09:00:00+00:00')
    """
    if text is None:
        return None
    try:
        day = _day(text.strip())
        if day is not None:
            found = datetime.combine(day + timedelta(days=is_end), time(), UTC)
        else:
            found = datetime.fromisoformat(text.strip())
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{option} {text!r} is no date", hint=f"{option} 2026-11-21, or 2026-11-21T09:30 (UTC)"
        ) from error


def _day(text: str) -> date | None:
    """The day, in any form that ISO 8601 has for one; None for what has a time of day, and for what is no date."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def require_verdict(text: str | None, option: str) -> str | None:
    """The word; UsageError, which names the option, for one that is no validity."""
    if text is not None and text not in VALIDITIES:
        raise UsageError(f"{option} {text!r} is not known", hint=did_you_mean(text, VALIDITIES))
    return text
