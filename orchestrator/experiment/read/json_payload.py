"""A user's own JSON file, read so strictly that every reader of JSON reads the same document.

What some stack does not carry exactly is refused at its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Context, Decimal
from pathlib import Path

from orchestrator.experiment.read.problems import shown
from orchestrator.experiment.read.units import format_size
from orchestrator.files import TooLarge, UnreadableFile, read_file

MOST_JSON_BYTES = 16 * 2**20
MOST_NESTED = 32  # a level is up to three of the 100 messages that parsers of Protocol Buffers nest

_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|[\[\]{}]|[^\s",:\[\]{}]+')
_INTEGER = re.compile(r"-?\d+")
_ANY_DIGITS = Context(traps=[])


def read_payload(folder: Path, name: str) -> bytes:
    """Return the content of the JSON file of that name in a folder; ValueError says as a sentence why it cannot be used."""
    file = folder / name
    try:
        refuse_outside(file, folder)
        content = read_file(file, MOST_JSON_BYTES)
    except FileNotFoundError as error:
        raise ValueError(f"there is no file {file}; paths are relative to the experiment file.") from error
    except TooLarge as error:
        limit = format_size(MOST_JSON_BYTES)
        raise ValueError(f"{file} is larger than {limit}, the largest JSON payload.") from error
    except (UnreadableFile, OSError) as error:
        raise ValueError(f"{shown(file)} {error}.") from error
    if fault := fault_of(content):
        text, (offset, reason) = content.decode("utf-8", "replace"), fault
        line, column = text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
        raise ValueError(f"{file}:{line}:{column}: {reason}.")
    return content


def refuse_outside(file: Path, folder: Path) -> None:
    """UnreadableFile for a file that is not below the folder."""
    if not file.resolve().is_relative_to(folder.resolve()):
        raise UnreadableFile("is outside the experiment's folder; copy it there, since the run folder includes it")


def fault_of(content: bytes) -> tuple[int, str] | None:
    """Return the offset of what not every stack carries exactly, and what it is; None without one."""
    try:
        text = content.decode()
        json.loads(text, parse_int=str, parse_float=str)
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        return len(before), f"this is not JSON: byte 0x{content[error.start]:02x} is not UTF-8"
    except json.JSONDecodeError as error:
        return error.pos, f"this is not JSON: {error.msg}"
    except RecursionError:
        pass  # its nesting is a fault
    levels: list[set[str]] = []
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word in "[{":
            levels.append(set())
            if len(levels) > MOST_NESTED:
                return match.start(), f"more than {MOST_NESTED} lists and objects within each other"
        elif word in "]}":
            levels.pop()
        elif reason := _reason_of_text(match, levels) if match[1] else _reason_of_number(word):
            return match.start(), reason
    return None


def _reason_of_text(match: re.Match[str], levels: Sequence[set[str]]) -> str | None:
    text: str = json.loads(match[1]) if "\\" in match[1] else match[1][1:-1]
    if "\\u" in match[1] and any("\ud800" <= character <= "\udfff" for character in text):
        return "half a surrogate pair, which UTF-8 cannot express"
    if match[2]:
        if text in levels[-1]:
            return f"the key '{shown(text)}' is given twice, and readers keep one of its values"
        levels[-1].add(text)
    return None


def _reason_of_number(word: str) -> str | None:
    if word in ("true", "false", "null"):
        return None
    number = shown(word)
    if _INTEGER.fullmatch(word) and word != "-0":
        if len(word) > len(str(-(2**63))) or not -(2**63) <= int(word) < 2**64:
            return f"{number} needs more than 64 bits"
        return (
            None
            if int(float(word)) == int(word)
            else f"{number} is a whole number that no double holds: write it as text"
        )
    if word[-1].isalpha():
        return f"this is not JSON: {number}"
    double = float(word)
    if double == 0 and word.startswith("-"):
        return f"{number} is negative zero, which readers keep or write as 0"
    if Decimal(word, _ANY_DIGITS) != Decimal(repr(double)):
        return f"{number} is not the number that a double holds in its place, {double:g}"
    return None
