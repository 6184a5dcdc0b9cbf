"""Runs whose medians and intervals are written down, each of which has an answer of another form.

`python -m tests.orchestrator.wording.scenarios` writes their answers to `answers.txt` anew, to be read as a diff.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from orchestrator.experiment.providers import ProviderName
from orchestrator.findings.summary import Floors, RunSummary
from orchestrator.findings.validity import invalid_cells, withhold
from orchestrator.questions.until.find import Stopped, Width
from orchestrator.statistics.terms import Reason, ReasonKind
from orchestrator.wording.answer import answer
from tests.support.concluded import beside, cell_of, check, far, noisy, setting, summary
from tests.support.findings import counted, labelled, measured, with_findings

GOLDEN = Path(__file__).parent / "answers.txt"
TWO = {"rest": 0.3, "grpc": 0.2}
MANY = {"rest": 0.3, "grpc": 0.4, "cbor": 0.25, "avro": 0.255, "ws": 0.12, "graphql": 0.9}


def turning(*medians: tuple[int, float, float]) -> RunSummary:
    """Three stacks, of which the third is always the slowest, with numbers in flight."""
    stacks = (({"rest": rest, "grpc": grpc, "soap": 90.0}, number) for number, rest, grpc in medians)
    return summary(*(setting(times, 1.01, concurrency=number) for times, number in stacks))


def by_factor(median: float, width: float) -> RunSummary:
    """rest with gzip and without."""
    plain, packed = cell_of("rest", 0.3, compression="none"), cell_of("rest", median, compression="gzip")
    names = {"factor": "compression", "subject": "rest", "value": "with gzip", "reference_value": "with no compression"}
    ratio = median / 0.3
    return summary(([plain, packed], [beside(packed, plain, (ratio / width, ratio * width), **names)]))


def by_connection(new: float) -> RunSummary:
    """Two stacks with a kept connection, and with a new one for each call that takes so much longer."""
    return summary(
        setting(TWO, connection="reuse"),
        setting({name: median + new for name, median in TWO.items()}, connection="per-request"),
    )


def regions(
    provider: ProviderName = "gcp", *, blocks: int = 3, operations: tuple[str, ...] = ("add",), factor: float = 1.01
) -> RunSummary:
    """gRPC that keeps its connections, and REST that opens one for each call, on one host and between two regions."""
    rows = []
    for operation in operations:
        for where, grpc, rest in (("local", 0.5, 1.6), ("cross-region", 37.5, 75.2)):
            cells = [
                replace(
                    labelled(
                        cell_of(stack, median, placement=where, connection=way, operation=operation, payload=operation),
                        operation=operation,
                    ),
                    floors=Floors(ping=37.5),
                )
                for stack, median, way in (("grpc", grpc, "reuse"), ("rest", rest, "per-request"))
            ]
            interval = (rest / grpc / factor, rest / grpc * factor) if blocks > 2 else None
            rows.append((cells, [beside(cells[1], cells[0], interval)]))
    return summary(*rows, plan=far(37.0 if provider == "lab" else None, "cross-region", provider))


def loads(grpc: Mapping[int, float]) -> RunSummary:
    """rest at 0.2 ms beside grpc, with numbers in flight."""
    return summary(*(setting({"rest": 0.2, "grpc": median}, 1.01, concurrency=n) for n, median in grpc.items()))


def by_connection_and_load() -> RunSummary:
    """One stack with a kept connection and with new ones, with numbers in flight."""
    rows = []
    for n, kept in ((1, 0.2), (4, 0.3)):
        cells = [
            cell_of("rest", t, connection=way, concurrency=n) for t, way in ((kept, "reuse"), (0.6, "per-request"))
        ]
        sides = {"value": "with a kept connection", "reference_value": "with a connection per request"}
        ratio = kept / 0.6
        row = beside(cells[0], cells[1], (ratio / 1.01, ratio * 1.01), factor="connection", subject="rest", **sides)
        rows.append((cells, [row]))
    return summary(*rows)


def not_compared(kind: ReasonKind) -> RunSummary:
    """Three stacks, of which the third could not be compared for this reason."""
    cells, rows = setting({**TWO, "cbor": 0.1})
    rows[1] = replace(
        rows[1], interval=None, standing="cannot tell", reason=Reason(kind=kind, numbers={"failed": 2, "of": 5})
    )
    return summary((cells, rows))


def failed(run: RunSummary, cell: str | None) -> RunSummary:
    """A run in which a check failed for this cell, or for all."""
    run = replace(run, checks=(check("reply", cell),))
    return replace(run, comparisons=withhold(run.comparisons, invalid_cells(run.cells, run.checks)))


def scenarios() -> Mapping[str, RunSummary]:
    """Return the runs, by what is particular to them."""
    two, rest, grpc = summary(setting(TWO)), cell_of("rest", 0.3), cell_of("grpc", 0.2)
    again = cell_of("control 1 of rest", 0.301)
    few = summary(([rest, grpc], [beside(grpc, rest, None)]))
    near = setting({"rest": 0.3, "grpc": 0.2, "soap": 90.0})
    away = setting({"rest": 35.3, "grpc": 35.2, "soap": 90.0}, 1.001, placement="far")
    small = summary(setting({"rest": 38.0, "grpc": 36.5}, 1.03, placement="far"), plan=far(35.0))
    width = Width(cell="grpc", reference_cell="rest", reaches=0.02)
    emulated = setting({"rest": 35.37, "grpc": 35.31}, 1.0005, placement="far")
    return {
        "two": two,
        "the reference is faster": summary(setting({"rest": 1.0, "graphql": 3.0})),
        "equal": summary(setting({"rest": 0.3, "grpc": 0.301}, width=1.01)),
        "open": summary(setting({"rest": 0.2, "grpc": 0.21}, width=1.5)),
        "too few blocks": few,
        "equal over an emulated distance": summary(emulated, plan=far(35.0)),
        "equal over a distance": summary(emulated, plan=far(35.0, provider="gcp")),
        "nothing beside the distance": replace(
            small, comparisons=tuple(replace(c, standing="faster") for c in small.comparisons)
        ),
        "four in order": summary(setting({"rest": 0.3, "grpc": 0.35, "cbor": 0.2, "graphql": 0.9})),
        "many": summary(setting(MANY)),
        "two first, equal": summary(setting({"rest": 0.3, "grpc": 0.2, "cbor": 0.202}, width=1.005)),
        "two first, open": summary(setting({"rest": 0.3, "grpc": 0.2, "cbor": 0.21}, width=1.1)),
        "all equal": summary(setting({"rest": 0.3, "grpc": 0.3, "cbor": 0.301}, width=1.005)),
        "all open": summary(setting({"rest": 0.3, "grpc": 0.3, "cbor": 0.31}, width=1.5)),
        "one in all settings": summary(
            *(setting({"rest": 0.3 * n, "grpc": 0.2 * n, "soap": 0.9 * n}, concurrency=n) for n in (1, 4))
        ),
        "it turns once": turning((1, 0.2, 0.3), (4, 0.5, 0.6), (16, 2.0, 1.5), (64, 9.0, 5.0)),
        "it turns twice": turning((1, 0.2, 0.3), (4, 0.5, 0.501), (16, 2.0, 1.5)),
        "it turns too often": turning((1, 0.2, 0.3), (2, 0.3, 0.2), (4, 0.2, 0.3), (8, 0.3, 0.2), (16, 0.2, 0.3)),
        "it turns with the distance": summary(near, away, plan=far(35.0)),
        "it turns with the connection": summary(
            setting(TWO, connection="reuse"), setting({"rest": 0.6, "grpc": 0.9}, connection="per-request")
        ),
        "a factor is faster": by_factor(0.4, 1.02),
        "a factor is equal": by_factor(0.301, 1.01),
        "a factor is open": by_factor(0.31, 1.5),
        "a connection matters more": by_connection(1.0),
        "a connection matters less": by_connection(0.02),
        "a stack lost trials": not_compared(ReasonKind.SURVIVORS),
        "a check failed for one of three": failed(summary(setting({**TWO, "cbor": 0.1})), "grpc|local"),
        "a check failed for all": failed(two, None),
        "busy and resolved": summary(setting(TWO), checks=(noisy("rest|local", foreign=0.7),)),
        "busy and open": summary(setting(TWO, width=2.0), checks=(noisy("rest|local", foreign=0.7, steal=0.2),)),
        "shared and resolved": measured(summary(setting(TWO)), shares_machine=True),
        "interrupted": replace(
            measured(few, state="interrupted"), cells=tuple(counted(c, planned_trials=40) for c in few.cells)
        ),
        "waited for intervals": with_findings(two, until=Stopped(blocks=7, at_most=30, within=0.03, widths=(width,))),
        "streams": summary(setting(TWO, kind="stream")),
        "codecs": summary(setting(TWO, kind="codec")),
        "tasks": summary(setting(TWO, kind="task")),
        "nothing to compare": summary(([rest], [])),
        "a stack and itself": summary(([rest, again], [replace(beside(again, rest, (0.99, 1.02)), control=True)])),
        "a lead falls with the distance": regions(),
        "a lead falls with an emulated distance": regions("lab"),
        "a lead that two blocks have seen": regions(blocks=2),
        "a lead without a significant change": regions(factor=2.0),
        "leads of two operations": regions(operations=("add", "echo")),
        "a lead turns with the load": loads({1: 0.3, 4: 0.3, 16: 0.1}),
        "a lead is lost with the load": loads({1: 0.4, 16: 0.2}),
        "no lead at any load": loads({1: 0.2, 16: 0.2}),
        "a factor's lead falls with the load": by_connection_and_load(),
    }


def lines() -> Iterator[str]:
    """Yield the answers as `answers.txt` has them."""
    for name, run in scenarios().items():
        yield f"# {name}"
        yield from (line.sentence for line in answer(run).lines)
        yield ""


if __name__ == "__main__":
    GOLDEN.write_text("\n".join(lines()), encoding="utf-8")
