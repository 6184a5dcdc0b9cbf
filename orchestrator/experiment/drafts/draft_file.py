"""Writes a draft as an experiment, with comments where a person must choose."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from orchestrator.experiment.drafts.draft import Draft, DraftCall, slug
from services.python.contract.templates import columns, render, secrets

_ADDRESS = "http://localhost:8000"
_HERE = re.compile(r"http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")  # an authority is to be given for TLS
_MOST_ROWS = 100
_LONGEST = 110  # of a comment


def draft_files(draft: Draft, source: str, file: Path, name: str) -> tuple[dict[Path, bytes], list[str]]:
    """Return the files to write, the experiment first, and the variables of the environment that it names."""
    rows = _Rows(draft.secrets)
    files = {file.with_name(key): content for key, content in draft.files.items()}
    stacks: list[str] = []
    needed: dict[str, None] = {}
    names: set[str] = set()
    has_safe = any(call.is_safe for call in draft.calls)
    for number, call in enumerate(draft.calls):
        label = _unique(slug(call.name), names)
        body = rows.templated(label, call)
        notes = [*call.notes]
        if call.document is not None:
            document = file.with_name(f"{file.stem}.{label}.graphql")
            files[document] = call.document.encode()
            body = {**body, "graphql": document.name}
        is_active = call.is_safe or (not has_safe and number == 0)
        if is_active and not call.is_safe:
            notes.append("It may change data. No call here only reads, and an experiment needs one.")
        if is_active:
            needed |= dict.fromkeys(secrets(body))
        stacks += _stack(label, call, body, notes, is_active=is_active)
    data = file.with_name(f"{file.stem}.jsonl")
    if rows.values:
        files[data] = rows.lines()
    text = "\n".join([*_head(draft, source, name), *stacks, *_tail(data.name if rows.values else None), ""])
    return {file: text.encode(), **files}, [*needed]


def _head(draft: Draft, source: str, name: str) -> Iterator[str]:
    few = f"{len(draft.calls)} of its {draft.total} calls" if draft.total > len(draft.calls) else "its calls"
    yield from _comment(
        f"Drafted from {source} ({draft.kind}): {few}. Those that may change data are commented out.", ""
    )
    yield "# Choose: which stacks to compare, where the services answer, and real values in the data."
    yield "# `orch plan --try` calls each stack once and shows request and reply: docs/how-to/services-and-ci.md."
    yield from _yaml({"name": name, "question": _line(f"How long does a call of {draft.title} take?")[:300]})
    yield "services:"
    for service, origin in draft.services.items():
        url = origin if _HERE.fullmatch(origin) else _ADDRESS
        if origin and url != origin:
            yield from _comment(f"{source} names {origin}. Another machine needs `allow: true` beside its `url`.", "  ")
        elif not origin:
            yield "  # Where it answers; or `start`, the command that starts it for each trial."
        yield from _yaml({service: {"url": url}}, "  ")
    yield "stacks:"


def _tail(data: str | None) -> Iterator[str]:
    if data:
        yield "# One JSON object a line: the values of {names} above. More lines make more different requests."
        yield from _yaml({"data": data})
    yield "# same: {id: id}    # values that the replies of all stacks must have alike"
    yield "repeats: 5"


def _stack(
    label: str, call: DraftCall, body: Mapping[str, Any], notes: Sequence[str], *, is_active: bool
) -> Iterator[str]:
    for note in filter(None, map(_line, notes)):
        yield from _comment(note, "  ")
    lead = "  " if is_active else "  # "
    yield from _yaml([{"name": label, "service": call.service, "call": body}], lead)


def _yaml(value: Any, lead: str = "") -> Iterator[str]:
    plain = json.loads(json.dumps(value))  # without anchors for what occurs twice
    dumped = yaml.safe_dump(plain, sort_keys=False, width=10_000, allow_unicode=True)
    yield from (lead + line for line in dumped.splitlines())


def _comment(text: str, lead: str) -> Iterator[str]:
    line = _line(text)
    yield f"{lead}# {line if len(line) <= _LONGEST else line[:_LONGEST].rsplit(' ', 1)[0] + ' ...'}"


def _line(text: str) -> str:
    """A text on one line, of characters that YAML takes."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _unique(label: str, names: set[str]) -> str:
    number, name = 1, label
    while name in names:
        number += 1
        name = f"{label[:36]}-{number}"
    names.add(name)
    return name


class _Rows:
    def __init__(self, known_secrets: Collection[str]) -> None:
        self.values: dict[str, Sequence[Any]] = {}
        self._secrets = known_secrets

    def templated(self, label: str, call: DraftCall) -> dict[str, Any]:
        """Return the call with its columns; one whose name is another call's, with other values, gets a longer name."""
        row: dict[str, str] = {}
        for name, values in call.values.items():
            chosen = name
            if name in self.values and json.dumps(self.values[name]) != json.dumps(values):
                chosen = f"{label.replace('-', '_')}_{name}"
                chosen = f"_{chosen}" if chosen[0].isdigit() else chosen
            self.values[chosen] = values[:_MOST_ROWS]
            row[name] = f"{{{chosen}}}"
        environment = {name: f"${{{name}}}" for name in self._secrets}
        # Braces that are the description's own, and no places, become columns that have these braces as their value.
        for name in [each for each in columns(call.call) if each not in row]:
            row[name] = self._as_column(name, f"{{{name}}}")
        for name in [each for each in secrets(call.call) if each not in environment]:
            environment[name] = self._as_column(f"text_{name}", f"${{{name}}}")
        templated: dict[str, Any] = render(dict(call.call), row, environment)
        return templated

    def _as_column(self, name: str, value: str) -> str:
        self.values.setdefault(name, [value])
        return f"{{{name}}}"

    def lines(self) -> bytes:
        """Return the rows as JSON lines; a column with fewer values than another begins again."""
        count = max(map(len, self.values.values()))
        rows = ({name: values[n % len(values)] for name, values in self.values.items()} for n in range(count))
        return "".join(f"{json.dumps(row)}\n" for row in rows).encode()
