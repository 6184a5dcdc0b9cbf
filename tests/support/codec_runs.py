"""Synthetic runs of codecs alone: `runs.a_run` without a network, each message in two parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orchestrator.experiment.model.factors import without_call
from orchestrator.experiment.plan import plan as p
from orchestrator.experiment.plan.plan import NOBODY
from orchestrator.record_layout import KINDS
from tests.support.drafts import with_parts
from tests.support.runs import Draft, MemoryRun, Spoil, a_plan, a_run

BASE_US = {"http+json": 60.0, "http+cbor": 30.0}
PARTS = 2


def codec_plan(**planned: Any) -> p.Plan:
    """JSON and CBOR alone, each message encoded and decoded."""
    plan = a_plan(**{"stacks": ("http+json", "http+cbor"), "clients": ("stdlib", "cbor2"), **planned})
    return replace(
        plan,
        stacks=tuple(replace(stack, responder=NOBODY) for stack in plan.stacks),
        cells=tuple(
            replace(
                cell,
                id=_called_by_nobody(cell.id),
                kind="codec",
                factors={**cell.factors, "responder": NOBODY, **without_call()},
            )
            for cell in plan.cells
        ),
        trials=tuple(replace(trial, cell=_called_by_nobody(trial.cell)) for trial in plan.trials),
    )


def _called_by_nobody(cell: str) -> str:
    """The id of a cell that has no connection to name."""
    return cell.replace("__reuse__", "__")


def a_codec_run(spoil: Spoil | None = None, *, between: float = 0.01, **given: Any) -> MemoryRun:
    """A clean run of `codec_plan`, but for what `spoil` does to each trial before its parts are made."""

    def alone(draft: Draft) -> None:
        rows = draft.columns
        rows["kind"][:] = KINDS.index("codec")
        draft.done |= {"rows": (1 + PARTS) * rows["sequence"].size, "wire": None, "min_rtt_us": None, "identity": None}
        if spoil:
            spoil(draft)

    run = a_run(codec_plan(**given), spoil=alone, baselines=False, base_us=BASE_US, between=between)
    stored = replace(
        run.stored,
        trials=tuple(
            replace(trial, ready=None, stats=None, stats_before=None, stats_warm=None) for trial in run.stored.trials
        ),
    )
    return replace(run, stored=stored, files={path: with_parts(of, PARTS) for path, of in run.files.items()})
