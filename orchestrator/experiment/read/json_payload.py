"""A user's own JSON file, read so strictly that every reader of JSON reads the same document.

What no stack carries exactly is refused at its place. What some stacks cannot carry is a limit, which the plan looks at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from pathlib import Path

from orchestrator.experiment.read.problems import shown
from orchestrator.experiment.read.units import format_size
from orchestrator.files import TooLarge, UnreadableFile, read_file

MOST_JSON_BYTES = 16 * 2**20
MOST_JSON_VALUES = 500_000
MOST_NESTED = 90  # serde_json reads 128 levels, orjson writes 254, each with a message around the document
MOST_NESTED_MESSAGES = 32  # a level is up to three of the 100 messages that parsers of Protocol Buffers nest
LONG_INTEGER, DEEP = "long integers", "deep nesting"
"""Limits: a whole number that no double holds; more levels than Protocol Buffers nest. Manifests name the first, too."""

_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|[\[\]{}]|[^\s",:\[\]{}]+')
_INTEGER = re.compile(r"-?\d+")
_ANY_DIGITS = Context(traps=[])


@dataclass(frozen=True, kw_only=True)
class JsonPayload:
    """A JSON file: its bytes, and the first place of each limit that it exceeds, with the reason, as a clause."""

    content: bytes
    limits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Fault:
    """What a document holds at an offset. Without a `limit` no stack carries it exactly."""

    offset: int
    reason: str
    limit: str = ""


def read_payload(folder: Path, name: str) -> JsonPayload:
    """Return the JSON file of that name in a folder; ValueError says as a sentence why it cannot be used."""
    file = folder / name
    try:
        refuse_outside(file, folder)
        content = read_file(file, MOST_JSON_BYTES)
        if sum(content.count(mark) for mark in (b",", b"[", b"{")) > MOST_JSON_VALUES:
            raise UnreadableFile(f"may hold more than {MOST_JSON_VALUES:,} values, going by its commas and brackets")
    except FileNotFoundError as error:
        raise ValueError(f"there is no file {file}; paths are relative to the experiment file.") from error
    except TooLarge as error:
        limit = format_size(MOST_JSON_BYTES)
        raise ValueError(f"{file} is larger than {limit}, the largest JSON payload.") from error
    except (UnreadableFile, OSError) as error:
        raise ValueError(f"{shown(file)} {error}.") from error
    text = content.decode("utf-8", "replace")
    limits: dict[str, str] = {}
    for fault in faults(content):
        line, column = text.count("\n", 0, fault.offset) + 1, fault.offset - text.rfind("\n", 0, fault.offset)
        if not fault.limit:
            raise ValueError(f"{file}:{line}:{column}: {fault.reason}.")
        limits.setdefault(fault.limit, f"{name}:{line}:{column}: {fault.reason}")
    return JsonPayload(content=content, limits=limits)


def refuse_outside(file: Path, folder: Path) -> None:
    """UnreadableFile for a file that is not below the folder."""
    if not file.resolve().is_relative_to(folder.resolve()):
        raise UnreadableFile("is outside the experiment's folder; copy it there, since the run folder includes it")


def faults(content: bytes) -> Iterator[Fault]:
    """Yield what not every stack carries, in the order of the file, up to the first fault that is no limit."""
    try:
        text = content.decode()
        json.loads(text, parse_int=str, parse_float=str)
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        yield Fault(len(before), f"this is not JSON: byte 0x{content[error.start]:02x} is not UTF-8")
        return
    except json.JSONDecodeError as error:
        yield Fault(error.pos, f"this is not JSON: {error.msg}")
        return
    except RecursionError:
        pass  # its nesting is a fault
    levels: list[set[str]] = []
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word in "[{":
            levels.append(set())
            if len(levels) > MOST_NESTED:
                yield Fault(match.start(), f"more than {MOST_NESTED} lists and objects within each other")
                return
            if len(levels) > MOST_NESTED_MESSAGES:
                yield Fault(
                    match.start(), f"more than {MOST_NESTED_MESSAGES} lists and objects within each other", DEEP
                )
        elif word in "]}":
            levels.pop()
        elif fault := _fault_of_text(match, levels) if match[1] else _fault_of_number(match):
            yield fault
            if not fault.limit:
                return


def _fault_of_text(match: re.Match[str], levels: Sequence[set[str]]) -> Fault | None:
    text: str = json.loads(match[1]) if "\\" in match[1] else match[1][1:-1]
    if "\\u" in match[1] and any("\ud800" <= character <= "\udfff" for character in text):
        return Fault(match.start(), "half a surrogate pair, which UTF-8 cannot express")
    if match[2]:
        if text in levels[-1]:
            return Fault(match.start(), f"the key '{shown(text)}' is given twice, and readers keep one of its values")
        levels[-1].add(text)
    return None


def _fault_of_number(match: re.Match[str]) -> Fault | None:
    word = match[0]
    if word in ("true", "false", "null"):
        return None
    number, place = shown(word), match.start()
    if _INTEGER.fullmatch(word) and word != "-0":
        if len(word) > len(str(-(2**63))) or not -(2**63) <= int(word) < 2**64:
            return Fault(place, f"{number} needs more than 64 bits")
        is_double = int(float(word)) == int(word)
        return None if is_double else Fault(place, f"{number} is a whole number that no double holds", LONG_INTEGER)
    if word[-1].isalpha():
        return Fault(place, f"this is not JSON: {number}")
    double = float(word)
    if double == 0 and word.startswith("-"):
        return Fault(place, f"{number} is negative zero, which readers keep or write as 0")
    if Decimal(word, _ANY_DIGITS) != Decimal(repr(double)):
        return Fault(place, f"{number} is not the number that a double holds in its place, {double:g}")
    return None
