"""A YAML file as a tree of values that know their places.

PyYAML's constructors are not used: what they would convert silently (`no`, `010`, `12:30`, a date) is text here, and what
they would overwrite (a duplicate key) is refused with the place and the reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from orchestrator.errors import nearest
from orchestrator.experiment.read.problems import ExperimentError, Mark, Problem, Source, shown
from orchestrator.files import TooLarge, UnreadableFile, read_file

MAX_BYTES = 256 * 1024
_NO_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map")}

Key = str | int
Scalar = str | int | float | bool | None


@dataclass(eq=False)
class Node:
    """A value: a scalar, a list of nodes, or a mapping whose keys have marks of their own."""

    mark: Mark
    value: Scalar | list[Node] | dict[str, Node] = None
    key_marks: dict[str, Mark] = field(default_factory=dict)

    def plain(self) -> object:
        """The value as Python's own dicts, lists and scalars."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value

    def find(self, path: Iterable[Key]) -> tuple[Node, Mark]:
        """The deepest node on the way to `path`, as far as the tree has it, and the mark to point at."""
        node, mark = self, self.mark
        for step in path:
            child = node._child(step)
            if child is None:
                break
            node, mark = child
        return node, mark

    def _child(self, step: Key) -> tuple[Node, Mark] | None:
        if isinstance(self.value, dict) and isinstance(step, str) and step in self.value:
            return self.value[step], self.key_marks[step]
        if isinstance(self.value, list) and isinstance(step, int) and step < len(self.value):
            return self.value[step], self.value[step].mark
        if step == 0:
            return self, self.mark  # a single value where a list may be
        return None


def read(path: Path) -> Node:
    """The tree of a YAML file. ExperimentError with every problem found; see `read_bytes` and `parse`."""
    return decode(path, read_bytes(path))


def read_bytes(path: Path) -> bytes:
    """The bytes of an experiment file; ExperimentError when there is none, or it is too large, or no regular file."""
    name = str(path)
    try:
        return read_file(path, MAX_BYTES)
    except FileNotFoundError as error:
        raise _alone(name, _missing(path)) from error
    except TooLarge as error:
        raise _alone(name, f"the file is larger than {MAX_BYTES // 1024} KiB, the limit for an experiment.") from error
    except UnreadableFile as error:
        raise _alone(name, f"the file {error}.") from error


def decode(path: Path, data: bytes) -> Node:
    """The tree of a YAML file's bytes."""
    name = str(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}. Save it as UTF-8."
        raise _alone(name, message) from error
    return parse(Source(name, text))


# Remedies by a part of the parser's message.
_REMEDIES = {
    "'\\t' that cannot start": "Indent with spaces: YAML takes no tabs.",
    "expected <block end>": "Items of a list, and keys of a mapping, begin in the same column.",
    "mapping values are not allowed": "Put text with a colon and a space in quotes; or is this line indented too far?",
}


def parse(source: Source) -> Node:
    """The tree of a YAML text."""
    reader = _Reader(source)
    try:
        document = yaml.compose(source.text, Loader=yaml.BaseLoader)
        root = Node(Mark(source, 1, 1)) if document is None else reader.read(document)
    except yaml.reader.ReaderError as error:
        mark = Mark(source, source.text.count("\n", 0, error.position) + 1, 1)
        raise _alone(mark, f"character U+{error.character:04X} is not allowed in YAML.") from error
    except yaml.MarkedYAMLError as error:
        words = " ".join(part for part in (error.context, error.problem) if part)
        remedy = next((f" {text}" for fragment, text in _REMEDIES.items() if fragment in words), "")
        raise _alone(_mark(source, error.problem_mark), f"this is not YAML: {words}.{remedy}") from error
    except RecursionError as error:
        raise _alone(Mark(source, 1, 1), "values are nested too deeply, or within themselves.") from error
    if reader.problems:
        raise ExperimentError(reader.problems)
    return root


def _missing(path: Path) -> str:
    siblings = [p.name for p in path.parent.glob("*.yaml")] if path.parent.is_dir() else []
    near = nearest(path.name, siblings)
    hint = f"Did you mean {path.parent / near[0]}?" if near else "`orch init FILE` writes one to start from."
    return f"there is no such file. {hint}"


def _alone(place: str | Mark, message: str) -> ExperimentError:
    return ExperimentError([Problem(Mark(Source(place, ""), 1, 1) if isinstance(place, str) else place, message)])


def _mark(source: Source, place: yaml.Mark | None) -> Mark:
    return Mark(source, 1, 1) if place is None else Mark(source, place.line + 1, place.column + 1)


class _Reader:
    """Makes nodes of PyYAML's; an alias is read again at each place, so that it can be overridden there alone."""

    def __init__(self, source: Source) -> None:
        self.problems: list[Problem] = []
        self._source = source

    def read(self, parsed: yaml.Node) -> Node:
        """Return the node of a value; RecursionError for one that is within itself."""
        mark = _mark(self._source, parsed.start_mark)
        if parsed.tag not in _NO_TAGS:
            self.problems.append(Problem(mark, f"tag '{shown(parsed.tag)}' is not used in experiments; leave it out."))
        if isinstance(parsed, yaml.MappingNode):
            return self._mapping(parsed, mark)
        if isinstance(parsed, yaml.ScalarNode):
            return self._scalar(parsed, mark)
        return Node(mark, [self.read(item) for item in parsed.value])

    def _mapping(self, parsed: yaml.MappingNode, mark: Mark) -> Node:
        node, values = Node(mark, {}), dict[str, Node]()
        for name, value in parsed.value:
            key, child = self.read(name), self.read(value)
            if not isinstance(key.value, str):
                self.problems.append(Problem(key.mark, "a key must be text."))
            elif key.value in values:
                first = f"the first is in line {node.key_marks[key.value].line}"
                self.problems.append(Problem(key.mark, f"key '{shown(key.value)}' is given twice; {first}."))
            else:
                values[key.value] = child
                node.key_marks[key.value] = key.mark
        node.value = values
        return node

    def _scalar(self, parsed: yaml.ScalarNode, mark: Mark) -> Node:
        text: str = parsed.value
        is_plain = parsed.style is None
        value = resolve(text) if is_plain else text
        too_long = is_plain and _INTEGER.fullmatch(text) and isinstance(value, str)
        if too_long or value in (math.inf, -math.inf):
            self.problems.append(Problem(mark, "this number is too large; in quotes it is text."))
        elif isinstance(value, str) and (reason := unfit(value)):
            self.problems.append(Problem(mark, reason))
        return Node(mark, value)


# Half a character; what a terminal acts on instead of showing it; what has no width, or reorders the text around it.
_UNFIT = re.compile("[\ud800-\udfff\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]*)\.[0-9]+")


def unfit(text: str) -> str | None:
    """Why a text is refused everywhere: it holds what is no character, or nothing that a person sees. None when fit."""
    match = _UNFIT.search(text)
    return match and f"this text holds the character U+{ord(match.group()):04X}, which is invisible."


def resolve(text: str) -> Scalar:
    """The value of an unquoted scalar: an integer, a decimal, true, false, null, or text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) < 20 else text
    return float(text) if _DECIMAL.fullmatch(text) else text
