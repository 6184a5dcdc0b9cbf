"""The table of what `benchmarks.turns` measured, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log
from statistics import median
from typing import Any

from orchestrator.statistics import intervals

Entry = Mapping[str, Any]
_RESOLVED, _NINE_OF_TEN, _LONGEST_S = 0.05, 0.9, 120.0
_STATISTICS = ("median", "p99", "throughput")


def table(runs: Sequence[Entry]) -> Iterator[str]:
    """All lines: the designs, equal stacks, known differences, and what does not agree."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for run in runs:
        groups.setdefault((run["setting"], run["design"]), []).append(run)
    yield "| runs of | design | runs | wall time, middle and longest | half-width, middle | 9 of 10 within 5 % in 120 s |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for (setting, design), of_design in sorted(groups.items()):
        widths = [width for run in of_design for width in half_widths(run)]
        elapsed_s = [run["elapsed_s"] for run in of_design]
        times = f"{median(elapsed_s):.0f} s, {max(elapsed_s):.0f} s"
        resolved = f"{sum(map(is_resolved, of_design))} of {len(of_design)}"
        yield f"| {setting} | {design} | {len(of_design)} | {times} | {median(widths):.1%} | {resolved} |"
    yield ""
    for (setting, design), of_design in sorted(groups.items()):
        name = setting.split()[0]
        if name == "equal":
            yield from _equal(setting, of_design)
        if name == "injected":
            yield from _injected(design, of_design)
        if name == "pollers":
            yield from _pollers(of_design)
        if name == "small-hosts":
            yield from _controls(design, of_design)
    yield from _unlike(groups)
    gaps = [run["between"] for run in runs if run["between"]]
    if gaps:
        middle, late = (median(gap["work"][place] for gap in gaps) for place in (0, 1))
        whole = median(gap["whole"][0] for gap in gaps)
        yield f"Between turns: {whole:.1f} ms, of which beside the next turn's warm-up {middle:.1f} ms (p95 {late:.1f} ms)."


def compared(run: Entry, statistic: str = "median", *, control: bool = False) -> list[Entry]:
    """A run's comparisons by a statistic."""
    return [c for c in run["comparisons"] if c["statistic"] == statistic and c["control"] == control]


def half_widths(run: Entry) -> list[float]:
    """How far each interval of medians reaches from its ratio, as a share; infinite without one."""
    pairs = [c["interval"] for c in compared(run)]
    return [(pair[1] / pair[0]) ** 0.5 - 1 if pair else float("inf") for pair in pairs]


def is_resolved(run: Entry) -> bool:
    """Whether nine of ten comparisons resolve 5 %, in two minutes."""
    widths = half_widths(run)
    return sum(width <= _RESOLVED for width in widths) >= _NINE_OF_TEN * len(widths) and run["elapsed_s"] <= _LONGEST_S


def _equal(setting: str, runs: Sequence[Entry]) -> Iterator[str]:
    for statistic in _STATISTICS:
        all_comparisons = [compared(run, statistic) for run in runs]
        wrong = sum(any(c["standing"] in ("faster", "slower") for c in row) for row in all_comparisons)
        held = [_holds_one(c) for row in all_comparisons for c in row if len(c["by_block"]) >= intervals.FEWEST_BLOCKS]
        if held:
            yield (
                f"{setting}, {statistic}: a false winner in {wrong} of {len(runs)} runs;"
                f" {sum(held)} of {len(held)} single 95 % intervals hold 1 ({sum(held) / len(held):.1%})."
            )


def _holds_one(comparison: Entry) -> bool:
    """Whether the pair's own interval, uncorrected, holds 1."""
    interval = intervals.log_mean([log(ratio) for ratio in comparison["by_block"]]).interval()
    return interval is not None and interval[0] <= 1 <= interval[1]


def _injected(design: str, runs: Sequence[Entry]) -> Iterator[str]:
    rows: dict[str, list[tuple[float, Entry]]] = {}
    for run in runs:
        by_label = {c["stack_label"]: c for c in compared(run)}
        work = by_label["plus-100"]["ratio"] - 1 if by_label["plus-100"]["ratio"] else None
        for label, share in (("equal", 0.0), ("plus-1", 0.01), ("plus-5", 0.05)):
            if work is not None and by_label[label]["interval"]:
                rows.setdefault(label, []).append((1 + share * work, by_label[label]))
        if by_label["plus-5-ms"]["interval"]:
            rows.setdefault("plus-5-ms", []).append((0.0, by_label["plus-5-ms"]))
    for label, row in rows.items():
        found = sum(c["standing"] == "slower" for _, c in row)
        held = sum(c["interval"][0] <= truth <= c["interval"][1] for truth, c in row)
        truths = (
            f"true ratio {median(truth for truth, _ in row):.3f} in {held} intervals, " if label != "plus-5-ms" else ""
        )
        measured = median(c["ratio"] for _, c in row)
        yield f"injected, {design}, {label}: {truths}measured {measured:.3f}, called slower in {found} of {len(row)} runs."


def _pollers(runs: Sequence[Entry]) -> Iterator[str]:
    """How often the check *CPU time* names each service, and what polling does to the others."""
    for label, cell in sorted({(cell["stack"], cell["id"]) for run in runs for cell in run["cells"]}):
        named = sum(any(line.startswith(f"CPU time, {cell}: ") for line in run["checks"]) for run in runs)
        yield f"pollers: {label} is named in {named} of {len(runs)} runs."


def _controls(design: str, runs: Sequence[Entry]) -> Iterator[str]:
    apart = [abs(log(c["ratio"])) for run in runs for c in compared(run, control=True) if c["ratio"]]
    if apart:
        yield f"small-hosts, {design}: the reference differs from itself by {median(apart):.1%} (most: {max(apart):.1%})."


def _unlike(groups: Mapping[tuple[str, str], Sequence[Entry]]) -> Iterator[str]:
    """Stacks whose medians with and without turns have intervals that do not overlap, in the last runs of both."""
    if not (groups.get(("stacks", "turns")) and groups.get(("stacks", "off"))):
        return
    turns, off = (
        {cell["id"]: cell for cell in groups["stacks", design][-1]["cells"] if cell["interval"]}
        for design in ("turns", "off")
    )
    both = turns.keys() & off.keys()
    apart = [
        cell
        for cell in sorted(both)
        if max(turns[cell]["interval"][0], off[cell]["interval"][0])
        > min(turns[cell]["interval"][1], off[cell]["interval"][1])
    ]
    yield f"stacks: medians with turns and without agree for {len(both) - len(apart)} of {len(both)}."
    for cell in apart:
        (low, high), (least, most) = turns[cell]["interval"], off[cell]["interval"]
        with_turns, without = f"{low * 1000:.0f} to {high * 1000:.0f} µs", f"{least * 1000:.0f} to {most * 1000:.0f} µs"
        yield f"* {turns[cell]['stack']}: {with_turns} with turns, {without} without"
