"""Which runs a listing shows: the conditions as somebody gives them; `index` puts them to the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from orchestrator.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Every condition that is given must hold. `since` and `until` are as `moment_of` gives them; `until` is excluded.

    `text`: words that must all be in a run's id, experiment, question, answer, state, checks, stacks, placements or
    hosts, whatever their case.
    """

    since: str | None = None
    until: str | None = None
    run: str | None = None
    text: str | None = None
    limit: int | None = None
    offset: int = 0


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
            moment = datetime.combine(day + timedelta(days=is_end), time(), UTC)
        else:
            moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
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
