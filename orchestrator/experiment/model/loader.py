"""From a file to a validated experiment that still knows the place of every value."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from orchestrator.errors import UsageError, did_you_mean, nearest
from orchestrator.experiment.model import experiment as model
from orchestrator.experiment.model.host_rules import HOST_PATTERN
from orchestrator.experiment.read import tree
from orchestrator.experiment.read.problems import MOST_PROBLEMS, ExperimentError, Mark, Problem, Source, shown
from orchestrator.experiment.read.tree import Key, Node
from orchestrator.experiment.read.units import format_duration, format_rate, format_size
from services.python.contract.limits import MAX_PAYLOAD_BYTES

Steps = tuple[Key, ...]


@dataclass
class Located:
    """An experiment and the tree it came from; problems found later are collected here with their places."""

    experiment: model.Experiment
    root: Node
    folder: Path  # payload files are looked for here
    sha256: str  # of the file's bytes, as they were read
    problems: list[Problem] = field(default_factory=list)

    def add(self, path: Sequence[Key], message: str) -> None:
        """Note a problem at the value of `path`, or at the nearest one above it that the file has; each once."""
        node, _ = self.root.find(path)
        if (problem := Problem(node.mark, message)) not in self.problems:
            self.problems.append(problem)
        if len(self.problems) >= MOST_PROBLEMS:
            self.raise_problems()

    def raise_problems(self) -> None:
        """ExperimentError with every problem noted so far, if there is one."""
        if self.problems:
            raise ExperimentError(self.problems)


def load(path: Path, overrides: Sequence[str] = ()) -> Located:
    """The experiment in a file, with `--set` overrides applied. ExperimentError names every problem with its place."""
    data = tree.read_bytes(path)
    root = tree.decode(path, data)
    for override in overrides:
        apply_override(root, override)
    problems = list(_nulls(root, ()))
    if not isinstance(root.value, dict):
        raise ExperimentError([Problem(root.mark, "an experiment is a mapping of keys; `orch init` writes one.")])
    try:
        experiment = model.Experiment.model_validate(root.plain())
    except ValidationError as error:
        faults = error.errors(include_url=False)[:MOST_PROBLEMS]
        problems += [_explain(root, d) for d in faults if root.find(d["loc"])[0].value is not None or d["loc"] == ()]
        raise ExperimentError(problems) from error
    if problems:
        raise ExperimentError(problems)
    sha256 = hashlib.sha256(data).hexdigest()
    return Located(experiment=experiment, root=root, folder=path.parent, sha256=sha256)


def apply_override(root: Node, override: str) -> None:
    """Put `load.requests=100` or `operations.0.echo.bytes=1 kB` into the tree; UsageError when it is not of that form."""
    keys, separator, text = override.partition("=")
    if not separator or not re.fullmatch(r"[\w-]+(\.[\w-]+)*", keys):
        raise UsageError(
            f"--set {override}: this is not KEY=VALUE",
            hint="write it like --set load.requests=100 or --set stacks.0.client=raw",
        )
    value = tree.parse(Source(f"--set {keys}", text))
    node, written, column = root, Source(f"--set {keys}", override), 1
    *way, last = keys.split(".")
    for step in way:
        node = _at(node, step, override, Mark(written, 1, column), None)
        column += len(step) + 1
        if way[0] in _LONG_FORMS and len(way) > 1 and isinstance(node.value, str):
            key = _LONG_FORMS[way[0]]  # a shorthand item, in its long form so that its other keys can be set
            node.value, node.key_marks = {key: Node(node.mark, node.value)}, {key: node.mark}
    _at(node, last, override, Mark(written, 1, column), value)


_LONG_FORMS = {"stacks": "protocol", "placements": "name"}


def _at(node: Node, step: str, override: str, mark: Mark, value: Node | None) -> Node:
    """The item or key of a node, replaced where a value is given; a key that is not there is made."""
    if isinstance(node.value, list):
        if not step.isdigit() or int(step) >= len(node.value):
            raise UsageError(
                f"--set {override}: '{step}' is not an item of the list at {node.mark}",
                hint=f"items are counted from 0 to {len(node.value) - 1}",
            )
        node.value[int(step)] = value or node.value[int(step)]
        return node.value[int(step)]
    if not isinstance(node.value, dict):
        raise UsageError(
            f"--set {override}: {node.mark} is a single value, so it has no {step}",
            hint="give all of its keys at once: --set 'KEY={...}'",
        )
    if value is not None or step not in node.value:
        node.value[step] = value or Node(node.mark, {})
        node.key_marks[step] = mark
    return node.value[step]


def _nulls(node: Node, path: Steps) -> Iterable[Problem]:
    """Keys without a value, but for an operation's options, where `image:` means the defaults."""
    items: Iterable[tuple[Key, Node]] = ()
    if isinstance(node.value, dict | list):
        items = node.value.items() if isinstance(node.value, dict) else enumerate(node.value)
    for key, child in items:
        is_operation = path[:1] == ("operations",) and len(path) <= 2 and key in model.OPERATION_NAMES
        if child.value is None and not is_operation:
            what = f"'{key}' has no value: give one, or leave the key out" if isinstance(key, str) else "an empty item"
            yield Problem(node.key_marks.get(str(key), child.mark), f"{what}.")
        yield from _nulls(child, (*path, key))


def _explain(root: Node, details: ErrorDetails) -> Problem:
    path = details["loc"]
    node, key_mark = root.find(path)
    kind = details["type"]
    name = next((step for step in reversed(path) if isinstance(step, str)), "the file")
    if kind == "extra_forbidden":
        return Problem(key_mark, _unknown_key(path))
    if kind == "missing":
        fields = _model_at(path[:-1]).model_fields
        words = next((f.description for key, f in fields.items() if (f.alias or key) == name), "") or ""
        return Problem(node.mark, f"'{name}' is missing. {words}".strip())
    return Problem(node.mark, f"'{name}': {_sentence(kind, details, node, str(name))}")


_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
_WANTED = {
    **dict.fromkeys(("int_type", "int_from_float"), "a whole number"),
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "a mapping of keys"),
    "bool_type": "true or false",
    "string_type": "text",
}
_SENTENCES = {
    "value_error": "{error}.",
    "too_long": "the list has {actual_length:,} items; it may have at most {max_length:,}.",
    "too_short": "at least {min_length:,} are needed, not {actual_length:,}.",
    "string_too_short": "the text is empty.",
    "string_too_long": "the text is longer than {max_length} characters.",
}
_DURATIONS = {"wall", "ttl", "timeout", "duration", "at_most", "at_least", "rtt", "jitter", "think"}
_SHARES = {"loss", "hold_out", "within"}
_RATES = {"rate", "from", "to", "per_second"}


def _bound(bound: float, name: str, *, is_quantity: bool) -> str:
    if name in _DURATIONS and is_quantity and bound:
        return format_duration(bound)
    if name in _SHARES:
        return f"{100 * bound:g} %"
    if name in _RATES and bound:
        return format_rate(bound)
    if bound == MAX_PAYLOAD_BYTES:
        return f"{format_size(MAX_PAYLOAD_BYTES)}, the largest payload that every protocol carries"
    return f"{bound:,.0f}"


def _sentence(kind: str, details: ErrorDetails, node: Node, name: str) -> str:
    context: dict[str, Any] = details.get("ctx", {})
    given = f"'{shown(node.value)}'"
    if isinstance(node.value, dict | list):
        given = "a mapping" if isinstance(node.value, dict) else "a list"
    if kind in _SENTENCES:
        return _SENTENCES[kind].format(**context)
    if kind == "literal_error":
        known = re.findall(r"'([^']*)'", context["expected"])
        near = nearest(shown(node.value), known, most=2)
        return f"{given} is not one of {', '.join(known)}. {did_you_mean(shown(node.value), known) if near else ''}".rstrip()
    if kind == "string_pattern_mismatch":
        is_host = context["pattern"] == HOST_PATTERN
        named = "a zone or a host: letters" if is_host else "a name: up to 40 lower-case letters"
        return f"{given} is not {named}, digits, - and _, the first a letter or digit."
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        bound = _bound(context[key], name, is_quantity=isinstance(node.value, str))
        return f"must be {words} {bound}; it is {given}."
    return f"must be {_WANTED[kind]}; it is {given}." if kind in _WANTED else f"{details['msg']}."


def _unknown_key(path: Sequence[Key]) -> str:
    *parents, key = path
    owner, top = _model_at(parents), model.Experiment.model_fields
    known = [info.alias or name for name, info in owner.model_fields.items()]
    if owner is model.OperationSpec:
        return f"unknown operation '{shown(key)}'. {did_you_mean(shown(key), known)}"
    if owner is not model.Experiment and key in top:
        return f"unknown key '{shown(key)}'. It belongs at the top of the file."
    homes = [f"`{name}`" for name in top if key in _model_at([name]).model_fields]
    if owner is model.Experiment and homes:
        return f"unknown key '{shown(key)}'. It belongs below {' or '.join(homes)}."
    parent = next((step for step in reversed(parents) if isinstance(step, str)), None)
    where = f" in {parent}" if parent else ""
    return f"unknown key '{shown(key)}'{where}. {did_you_mean(shown(key), known)}"


def _model_at(path: Sequence[Key]) -> type[BaseModel]:
    names = [step for step in path if isinstance(step, str)]
    known = _models_by_key()
    return next((known[name] for name in reversed(names) if name in known), model.Experiment)


@cache
def _models_by_key() -> Mapping[str, type[BaseModel]]:
    """For each key of a file whose value has keys of its own: the model of that value."""
    return dict(_keys_below(model.Experiment))


def _keys_below(owner: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    for name, info in owner.model_fields.items():
        for below in _models_in(info.annotation):
            yield info.alias or name, below
            yield from _keys_below(below)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)
