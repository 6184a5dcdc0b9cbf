"""What services of the person's own answer before anything is measured: the same for the same row, or not."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from orchestrator.catalogue.read import protocols
from orchestrator.experiment.model.factors import knobs
from orchestrator.experiment.plan.plan import Plan
from orchestrator.hosts.base import Pair
from orchestrator.hosts.local.host import LocalHost
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.own.call_files import put_services, written
from orchestrator.measure.run_context import RunContext
from orchestrator.measure.target import Ask, TrialFailed
from orchestrator.measure.trial import target_of, trial_line
from orchestrator.questions.sameness.words import sentence
from orchestrator.results.manifest import ReplyDifference
from services.python.contract.lines import Load

MOST_ROWS = 1_000
_LINE_S = 120.0
_LONGEST_SHOWN = 100  # characters


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """The reply to one row. `same`: lists of values by name; `failure`: why there is no right reply, empty if there is."""

    row: int
    request: str
    status: int
    reply: str
    same: Mapping[str, Any] = field(default_factory=dict)
    failure: str = ""


def sampled(ask: Ask, pair: Pair, interrupts: Interrupts, rows: int) -> tuple[Sampled, ...]:
    """Ask a service for its first rows, started for this where orch starts it. TrialFailed where it cannot be asked."""
    target = target_of(ask, pair, interrupts)
    host = pair.requesters[0]
    try:
        target.start()
        place = target.await_ready()
        protocol = protocols()[ask.protocol]
        clients = (protocol.client(name) for name in (ask.client, protocol.sequential))
        client = next(client for client in clients if "sample" in client.language.start)
        process = host.start([*client.language.argv("sample", host), str(rows)], cpus=pair.requester_cpus)
        try:
            first_rows = replace(ask, client=client.name, load=Load(requests=0))
            process.send(trial_line(first_rows, host, place, host.workspace / "sample.timings").to_json())
            with interrupts.waiting():
                lines = []
                while (line := process.read(_LINE_S)) is not None:
                    lines.append(Sampled(**json.loads(line)))
        except (TimeoutError, BrokenPipeError) as error:
            raise TrialFailed("check", "timeout", f"its first replies do not come: {error}") from error
        finally:
            process.end()
        if not lines:
            raise TrialFailed("check", "trial", process.last_words().removeprefix("sample: "))
        return tuple(lines)
    finally:
        target.end()


def tried(plan: Plan) -> Iterator[tuple[str, Sampled | str]]:
    """Ask each service of a plan once, on this machine; the stack's label with the reply, or why there is none."""
    return ((label, came if isinstance(came, str) else came[0]) for label, came in first_replies(plan, 1))


def first_replies(plan: Plan, rows: int, *, together: bool = False) -> Generator[tuple[str, tuple[Sampled, ...] | str]]:
    """Ask each service of a plan for its first rows, as `tried` does.

    `together`: the first service runs on beside the others, which shows what two of them cannot share, such as a port.
    """
    cells = {cell.stack: cell for cell in reversed(plan.cells)}

    def note(_: dict[str, Any]) -> None:
        """Nothing is left behind: what is started ends with this call."""

    with TemporaryDirectory(prefix="orch-try-") as folder, Interrupts() as interrupts, ExitStack() as beside:
        host = LocalHost(Path(folder), note=note)
        folders = put_services(plan, (host,), copies=False)
        for stack in plan.stacks:
            if stack.external is None or stack.control_of is not None:
                continue
            cell = cells[stack.id]
            ask = Ask(
                protocol=stack.protocol,
                responder=stack.responder,
                client=stack.client,
                operation="call",
                payload=written(plan, stack.external, Path(folder)),
                connection=cell.connection,
                timeout_s=cell.timeout_s,
                knobs=knobs(cell.factors),
                external=stack.external,
                beside=Path(plan.experiment_path).parent,
                folder="" if stack.external.start is None else folders[stack.external.start.folder],
            )
            pair = Pair((host,), host)
            try:
                yield stack.label, sampled(ask, pair, interrupts, rows)
                if together and stack is plan.stacks[0]:
                    target = target_of(ask, pair, interrupts)
                    beside.callback(target.end)
                    target.start()
                    target.await_ready()
            except TrialFailed as error:
                yield stack.label, error.message


def differences(replies: Mapping[str, Sequence[Sampled]]) -> Iterator[ReplyDifference]:
    """Yield the values in which stacks differ from the first, each with the first row where they do."""
    (first, expected), *others = replies.items()
    for stack, replied in others:
        by_name: dict[str, list[tuple[int, Any, Any]]] = {}
        for first_reply, other in zip(expected, replied, strict=False):
            for name in first_reply.same.keys() & other.same.keys():
                if not _alike(first_reply.same[name], other.same[name]):
                    by_name.setdefault(name, []).append((first_reply.row, first_reply.same[name], other.same[name]))
        for name, rows in sorted(by_name.items()):
            row, mine, theirs = rows[0]
            values = shown(mine), shown(theirs)
            yield ReplyDifference(name=name, row=row, stacks=(first, stack), values=values, rows=len(rows))


def _alike(first: Sequence[Any], other: Sequence[Any]) -> bool:
    """Equal value by value; a number also equals its text, as JSON has no other form for 64 bits."""
    return [_plain(value) for value in first] == [_plain(value) for value in other]


def shown(values: Sequence[Any]) -> str:
    """Values as JSON, cut where they are long; a single one without its list."""
    text = json.dumps(values[0] if len(values) == 1 else list(values), ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def compare_replies(context: RunContext) -> None:
    """Record each value of `same` that stacks answer differently; those that smoke has left out are not asked."""
    replies: dict[str, Sequence[Sampled]] = {}
    cells = {cell.stack: cell for cell in reversed(context.plan.cells)}
    for stack in context.plan.stacks:
        if stack.external is None or stack.control_of is not None or not stack.external.call["same"]:
            continue
        cell = cells[stack.id]
        if cell.exchange in context.broken:
            continue
        context.interrupts.checkpoint()
        context.listener.live(f"comparing replies: {stack.label}")
        pair = context.hosts.pair(cell.placement)
        replies[stack.label] = sampled(context.ask(cell, context.plan.seed), pair, context.interrupts, MOST_ROWS)
    if len(replies) > 1 and (unlike := tuple(differences(replies))):
        context.folder.append({"event": "differences", "differences": [asdict(difference) for difference in unlike]})
        for difference in unlike:
            context.listener.warning(f"not the same work: {sentence(difference)}")
