"""A YAML file as a tree of values that know where they stand.

PyYAML's events are read directly: what its constructors would convert silently (`no`, `010`, `12:30`, a date) or
overwrite (a duplicate key) is refused here with the place and the reason, and an alias costs what it expands to.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from orchestrator.errors import nearest
from orchestrator.experiment.read.problems import ExperimentError, Mark, Problem, Source, shown
from orchestrator.files import TooLarge, UnreadableFile, read_file
from orchestrator.unseen import UNSEEN

MAX_BYTES = 256 * 1024
MAX_NODES = 20_000
MAX_DEPTH = 20

Key = str | int
Scalar = str | int | float | bool | None


@dataclass(eq=False)
class Node:
    """A value: a scalar, a list of nodes, or a mapping whose keys have marks of their own."""

    mark: Mark
    value: Scalar | list[Node] | dict[str, Node] = None
    key_marks: dict[str, Mark] = field(default_factory=dict)
    size: int = 1  # nodes it expands to
    depth: int = 1  # levels it expands to

    def copy(self) -> Node:
        """A node of its own, marks shared: what an alias stands for may be overridden without changing the anchor."""
        value = self.value
        if isinstance(value, dict):
            value = {key: child.copy() for key, child in value.items()}
        elif isinstance(value, list):
            value = [child.copy() for child in value]
        return Node(self.mark, value, dict(self.key_marks), self.size, self.depth)

    def plain(self) -> object:
        """The value as Python's own dicts, lists and scalars."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value

    def find(self, path: Iterable[Key]) -> tuple[Node, Mark]:
        """The deepest node on the way to `path`, and the mark to point at: the key where the last step is one.

        Steps that the tree does not have (a default, the long form of a shorthand) end the way.
        """
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
            return self, self.mark  # a single value where a list may stand
        return None


def read(path: Path) -> Node:
    """The tree of a YAML file. ExperimentError with every problem found; see `read_bytes` and `parse`."""
    return decode(path, read_bytes(path))


def read_bytes(path: Path) -> bytes:
    """The bytes of an experiment file; ExperimentError when there is none, or it is too large, or no regular file."""
    name = str(path)
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise _alone(name, "the file's name is not UTF-8, so no plan can name it; rename it.")
    try:
        return read_file(path, MAX_BYTES)
    except FileNotFoundError as error:
        raise _alone(name, _missing(path)) from error
    except TooLarge as error:
        raise _alone(name, f"the file is larger than {MAX_BYTES // 1024} KiB, the limit for an experiment.") from error
    except UnreadableFile as error:
        raise _alone(name, f"the file {error}.") from error


def decode(path: Path, data: bytes, choices: Mapping[str, str] | None = None) -> Node:
    """The tree of a YAML file's bytes. ExperimentError with every problem found: not UTF-8, not YAML, ambiguous.

    `choices`: of keys whose values are words, what may be written: `none or tls1.3`.
    """
    name = str(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        message = f"the file is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}. Save it as UTF-8."
        raise ExperimentError([Problem(Mark(Source(name, ""), line, column), message)]) from error
    return parse(Source(name, text), choices)


# What the parser says, by a part of its words, and what somebody who wrote that may have meant.
_REMEDIES = (
    ("'\\t' that cannot start", "Indent with spaces: YAML takes no tabs."),
    ("cannot start any token", "Put text that begins with it in quotes."),
    (
        "expected <block end>",
        "Items of a list, and keys of a mapping, begin in the same column: look at the indentation.",
    ),
    (
        "mapping values are not allowed",
        "Put text with a colon and a space in quotes; or is this line indented too far?",
    ),
    ("a flow sequence", "Is there a ] for every [, and a comma between items?"),
    ("a flow mapping", "Is there a } for every {, and a comma between keys?"),
    ("a quoted scalar", "A quotation mark is missing."),
    ("could not find expected ':'", "Is this a key without its colon?"),
)


def parse(source: Source, choices: Mapping[str, str] | None = None, key: str = "") -> Node:
    """The tree of a YAML text; see `decode`. `key` is the one that it is the value of."""
    builder = _Builder(source, choices or {}, key)
    try:
        root = builder.build()
    except yaml.reader.ReaderError as error:
        before = source.text[: error.position]
        mark = Mark(source, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
        problem = Problem(mark, f"character U+{error.character:04X} is not allowed in YAML.")
        raise ExperimentError([*builder.problems, problem]) from error
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark
        mark = Mark(source, 1, 1) if at is None else Mark(source, at.line + 1, at.column + 1)
        words = " ".join(part for part in (error.context, error.problem) if part)
        remedy = next((f" {text}" for fragment, text in _REMEDIES if fragment in words), "")
        raise ExperimentError([*builder.problems, Problem(mark, f"this is not YAML: {words}.{remedy}")]) from error
    if builder.problems:
        raise ExperimentError(builder.problems)
    return root


def _missing(path: Path) -> str:
    siblings = [p.name for p in path.parent.glob("*.yaml")] if path.parent.is_dir() else []
    near = nearest(path.name, siblings)
    hint = f"Did you mean {path.parent / near[0]}?" if near else "`orch init FILE` writes one to start from."
    return f"there is no such file. {hint}"


def _alone(name: str, message: str) -> ExperimentError:
    return ExperimentError([Problem(Mark(Source(name, ""), 1, 1), message)])


@dataclass
class _Open:
    """A collection under way: its node, its anchor, and in a mapping the key that waits for its value."""

    node: Node
    anchor: str | None
    key: tuple[str, Mark] | None = None


class _Builder:
    """Reads events into nodes with a stack of its own: no recursion for a hostile file to exhaust."""

    def __init__(self, source: Source, choices: Mapping[str, str], key: str) -> None:
        self.source = source
        self._choices, self._outer = choices, key
        self.problems: list[Problem] = []
        self._root: Node | None = None
        self._open: list[_Open] = []
        self._anchors: dict[str, Node | None] = {}  # None while the anchored collection is under way
        self._count = 0

    def build(self) -> Node:
        for event in yaml.parse(self.source.text, Loader=yaml.SafeLoader):
            start = event.start_mark
            mark = Mark(self.source, 1, 1) if start is None else Mark(self.source, start.line + 1, start.column + 1)
            if isinstance(event, yaml.DocumentStartEvent) and self._root is not None:
                self._stop(mark, "a second document starts here; one file holds one experiment.")
            elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                self._start_collection(event, mark)
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                ended = self._open.pop()
                if ended.anchor:
                    self._anchors[ended.anchor] = ended.node
                self._attach(ended.node)
            elif isinstance(event, yaml.AliasEvent):
                self._take(self._alias(event, mark))
            elif isinstance(event, yaml.ScalarEvent):
                self._take(self._scalar(event, mark))
        return self._root if self._root is not None else Node(Mark(self.source, 1, 1))

    def _start_collection(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, mark: Mark) -> None:
        self._check_tag(event.tag, mark)
        self._grow(1, mark)
        if event.anchor:
            self._anchors[event.anchor] = None
        node = Node(mark, {} if isinstance(event, yaml.MappingStartEvent) else [])
        self._open.append(_Open(node, event.anchor))
        self._check_depth(len(self._open), mark)

    def _take(self, node: Node) -> None:
        """Take a scalar or an alias: as the next key of the innermost mapping when one is due, else as a value."""
        frame = self._open[-1] if self._open else None
        if frame is None or not isinstance(frame.node.value, dict) or frame.key is not None:
            self._attach(node)
        elif isinstance(node.value, str):
            frame.key = (node.value, node.mark)
        else:
            self.problems.append(Problem(node.mark, "a key must be text."))
            frame.key = (f"<key {len(frame.node.value) + 1}>", node.mark)

    def _attach(self, node: Node) -> None:
        """Put a finished value where it belongs: into the innermost open collection, or at the root."""
        if not self._open:
            self._root = node
            return
        frame = self._open[-1]
        frame.node.size += node.size
        frame.node.depth = max(frame.node.depth, node.depth + 1)
        if isinstance(frame.node.value, list):
            frame.node.value.append(node)
        elif isinstance(frame.node.value, dict):
            if frame.key is None:
                self._stop(node.mark, "a key must be text.")
            else:
                self._set(frame.node, frame.node.value, *frame.key, node)
                frame.key = None

    def _set(self, mapping: Node, values: dict[str, Node], key: str, key_mark: Mark, value: Node) -> None:
        if key in values:
            first = mapping.key_marks[key]
            self.problems.append(
                Problem(key_mark, f"key '{shown(key)}' is given twice; the first is in line {first.line}.")
            )
            return
        values[key] = value
        mapping.key_marks[key] = key_mark

    def _alias(self, event: yaml.AliasEvent, mark: Mark) -> Node:
        name = str(event.anchor)
        target = self._anchors.get(name)
        if target is None:
            what = "is inside the value it names" if name in self._anchors else "was never defined"
            self._stop(mark, f"alias '*{shown(name)}' {what}.")
        assert target is not None  # noqa: S101 - narrows the type: _stop raised
        self._grow(target.size, mark)
        self._check_depth(len(self._open) + target.depth, mark)
        return target.copy()

    def _scalar(self, event: yaml.ScalarEvent, mark: Mark) -> Node:
        self._check_tag(event.tag, mark)
        self._grow(1, mark)
        node = Node(mark, event.value)
        if event.style is None:
            reason = ambiguity(event.value, self._key(), self._choices)
            if reason:
                self.problems.append(Problem(mark, reason))
            node.value = resolve(event.value)
        too_long = event.style is None and _INTEGER.fullmatch(event.value) and isinstance(node.value, str)
        if too_long or node.value in (math.inf, -math.inf):
            self.problems.append(Problem(mark, "this number is too large; in quotes it is text."))
        elif isinstance(node.value, str) and (reason := unfit(node.value)):
            self.problems.append(Problem(mark, reason))
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _key(self) -> str:
        """The key whose value is under way."""
        return next((frame.key[0] for frame in reversed(self._open) if frame.key is not None), self._outer)

    def _check_tag(self, tag: str | None, mark: Mark) -> None:
        if tag is not None:
            self.problems.append(Problem(mark, f"tag '{shown(tag)}' is not used in experiments; leave it out."))

    def _check_depth(self, depth: int, mark: Mark) -> None:
        if depth > MAX_DEPTH:
            self._stop(mark, f"values are nested more than {MAX_DEPTH} deep.")

    def _grow(self, nodes: int, mark: Mark) -> None:
        self._count += nodes
        if self._count > MAX_NODES:
            self._stop(mark, f"the file expands to more than {MAX_NODES:,} values; aliases count as what they repeat.")

    def _stop(self, mark: Mark, message: str) -> None:
        raise ExperimentError([*self.problems, Problem(mark, message)])


# Half a character; what a terminal acts on instead of showing it; marks that reorder the text around them.
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]*)\.[0-9]+")
_SWITCH = re.compile(r"(?i)y|n|yes|no|on|off")
_AMBIGUOUS: tuple[tuple[re.Pattern[str], str], ...] = (
    (_SWITCH, "reads as true or false to some YAML readers: write true, false, or '{0}'"),
    (
        re.compile(r"[-+]?0[0-9_]+"),
        "reads as an octal number to some YAML readers: write it without the leading 0, or '{0}'",
    ),
    (re.compile(r"[-+]?0[xob][0-9a-fA-F_]+"), "is a number in another base: write it in decimal, or '{0}'"),
    (
        re.compile(r"[-+]?[0-9][0-9,_]*_[0-9_]*(\.[0-9]+)?"),
        "has underscores that some YAML readers drop: write the digits alone, or '{0}'",
    ),
    (
        re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+"),
        "is text to some YAML readers and a number to others: write it in full, or '{0}'",
    ),
    (
        re.compile(r"[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?"),
        "reads as a number in base 60 to some YAML readers: write a duration as 12m or 90s, or '{0}'",
    ),
    (
        re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?"),
        "reads as a date to some YAML readers: write '{0}'",
    ),
    (re.compile(r"(?i)[-+]?\.(inf|nan)"), "is not a number that an experiment can use"),
    (re.compile(r"[-+]?([0-9]+\.|\.[0-9]+)"), "is half a number: write digits on both sides of the point"),
    (re.compile(r"<<|="), "has a special meaning to some YAML readers: write '{0}'"),
)


def unfit(text: str) -> str | None:
    """Why a text is refused wherever it stands: it holds what is no character, or controls a terminal. None when fit."""
    if _SURROGATE.search(text):
        return "this text holds half of a surrogate pair, which is not a character."
    if match := _CONTROL.search(text):
        return f"this text holds the control character U+{ord(match.group()):04X}, which is not allowed."
    if match := UNSEEN.search(text):
        return f"this text holds the character U+{ord(match.group()):04X}, which is invisible."
    return None


def ambiguity(text: str, key: str = "", choices: Mapping[str, str] | None = None) -> str | None:
    """Why an unquoted scalar is refused: YAML readers disagree on what it is. None when it is clear.

    `choices` as in `decode`: true and false are none of them.
    """
    if choices and key in choices and _SWITCH.fullmatch(text):
        return f"'{text}' reads as true or false to some YAML readers, and `{key}` has neither: write {choices[key]}."
    for pattern, reason in _AMBIGUOUS:
        if pattern.fullmatch(text):
            return f"'{shown(text)}' {reason.format(shown(text))}."
    return None


def resolve(text: str) -> Scalar:
    """The value of an unquoted scalar: an integer, a decimal, true, false, null, or text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) < 20 else text
    return float(text) if _DECIMAL.fullmatch(text) else text
