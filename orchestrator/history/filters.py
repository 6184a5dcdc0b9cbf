"""Which runs somebody wants to see, as a condition of SQL that SQLite and PostgreSQL read alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from orchestrator.errors import UsageError, did_you_mean
from orchestrator.history.record import VALIDITIES

_MOST_WORDS = 8
_SEARCHED = (
    "(lower(runs.id || ' ' || runs.name || ' ' || runs.question || ' ' || runs.verdict || ' ' || runs.stacks"
    " || ' ' || runs.placements || ' ' || runs.state) LIKE ? ESCAPE '!'"
    " OR EXISTS (SELECT 1 FROM tags WHERE tags.run = runs.id AND lower(tags.tag) LIKE ? ESCAPE '!')"
    " OR EXISTS (SELECT 1 FROM notes WHERE notes.run = runs.id AND lower(notes.text) LIKE ? ESCAPE '!'))"
)


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

    def sql(self) -> tuple[str, list[str]]:
        """A condition on the table `runs`, and the values for its question marks."""
        cell = "EXISTS (SELECT 1 FROM cells AS c WHERE c.run = runs.id AND {})"
        conditions = (
            (_lower(self.experiment), "lower(runs.name) = ?", 1),
            (self.stack, cell.format("(c.stack = ? OR c.stack_label = ?)"), 2),
            (self.placement, cell.format("c.placement = ?"), 1),
            (self.since, "runs.started >= ?", 1),
            (self.until, "(runs.started < ? AND runs.started <> '')", 1),
            (self.verdict, "runs.validity = ?", 1),
            (self.tag, "EXISTS (SELECT 1 FROM tags WHERE tags.run = runs.id AND tags.tag = ?)", 1),
            (self.run, "runs.id = ?", 1),
        )
        given = [(value, text, times) for value, text, times in conditions if value is not None]
        texts, values = [text for _, text, _ in given], [value for value, _, times in given for _ in range(times)]
        if self.host is not None:
            texts.append("(runs.provider = ? OR lower(runs.hosts) LIKE ? ESCAPE '!')")
            values += [self.host, f"%{like(self.host)}%"]
        for word in (self.text or "").split()[:_MOST_WORDS]:
            texts.append(_SEARCHED)
            values += [f"%{like(word)}%"] * _SEARCHED.count("?")
        return " AND ".join(texts) or "1 = 1", values


def like(text: str) -> str:
    """A text as a pattern of LIKE that matches it alone, where `!` escapes and what it is held against is in lower case.

    >>> like("50%_A!")
    '50!%!_a!!'
    """
    return re.sub(r"[%_!]", r"!\g<0>", _lower(text) or "")


def _lower(text: str | None) -> str | None:
    """With A to Z in lower case and nothing else, as `lower` of the index has it."""
    return None if text is None else re.sub(r"[A-Z]", lambda of: of[0].lower(), text)


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
