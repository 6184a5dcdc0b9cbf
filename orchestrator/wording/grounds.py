"""What follows the fastest: what a difference is worth, what is compared, how sure it is and how to get more."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from orchestrator import quantities
from orchestrator.experiment.model.factors import BY_NAME, STACK
from orchestrator.experiment.plan.parts import PARTS, PROTOCOL
from orchestrator.findings import effects, power
from orchestrator.findings.effects import Effect
from orchestrator.findings.grid import Distances
from orchestrator.findings.power import PowerStatement
from orchestrator.findings.ranking import Ranking, ranked_by
from orchestrator.findings.summary import MOST_UNSENT, RunSummary
from orchestrator.questions.axes import words as axis_words
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.axes.find import Curves
from orchestrator.questions.until.find import QUESTION as UNTIL
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.statistics.quantiles import SUPPORT
from orchestrator.wording.phrasing import capital, named, some

_ONE = {"task": "a task", "stream": "an event"}  # of all else a call, also of what a codec's message is part of
_PARTS = {"framework": "server framework", "reading": "which fields are read", "connection": "connection policy"}
_CODEC_ALONE = "orch run experiments/like_for_like.yaml"
FOR_P99 = 100 * SUPPORT  # requests of a trial
_MOST_REPEATS = 100  # more than that nobody measures to settle a question
_MOST_CROSSINGS = 2
_FEW = 0.001  # of requests without a right reply


# ---- what it is worth


def crossings(curves: Sequence[Curves]) -> tuple[str, ...]:
    """Return from where along an axis another one is faster, with the interval of that place."""
    texts = [
        ": ".join((*([f"By {each.title}"] if len(curves) > 1 else []), *titles, axis_words.sentence(each.axis, gap)))
        for each in curves
        for panel in each.panels
        for titles in [[panel.title] if len(each.panels) > 1 else []]
        for gap in panel.gaps
        if gap.crossing is not None
    ]
    return tuple(texts[:_MOST_CROSSINGS])


def practice(summary: RunSummary, rankings: Sequence[Ranking], seen: Sequence[Effect], distances: Distances) -> str:
    """Return what the difference is worth: of one call, and up to which call it matters; of several where it turns."""
    if rankings[0].statistic != "median":
        return ""
    if effect := effects.greatest(seen, rankings):
        return _of_effect(*effect, rankings[0].factor)
    if len(rankings) > 1:
        return next(iter(crossings(AXES.of(summary))), "") or _largest(rankings)
    (ranking,) = rankings
    first, *rest = ranking.tiers
    if not rest:
        return _at_most(ranking)
    other = rest[0].cells[0] if ranking.reference in first.cells else ranking.reference
    gap = ranking.gap(first.cells[0], other)
    if not gap:
        return ""
    far = distances.far(ranking.cells[first.cells[0]])
    leader, next_one = named(ranking.names[first.cells[0]]), named(ranking.names[other])
    return f"{leader} saves {quantities.ms(gap)} {_one(ranking)} against {next_one}: {_up_to(ranking, gap, far)}."


def _up_to(ranking: Ranking, gap: float, far: float | None) -> str:
    """From which call on the difference is less than what matters."""
    limit, share = gap / ranking.matters, quantities.margin(ranking.matters)
    if limit <= (far or 0.0):
        return f"negligible (under {share}) beside a round trip of {quantities.ms(far or 0.0)}"
    return f"negligible (under {share}) where {_one(ranking)} takes {quantities.ms(limit)} or more"


def _largest(rankings: Sequence[Ranking]) -> str:
    """Of several settings: the most that the fastest is ahead of the next."""
    leads = [(r.lead, r) for r in rankings if r.tiers and len(r.tiers[0].cells) == 1 and r.lead is not None]
    if not leads:
        return ""
    most, ranking = max(leads, key=lambda pair: pair[0])
    first, second = (named(ranking.names[tier.cells[0]]) for tier in ranking.tiers[:2])
    return (
        f"{first} saves at most {quantities.ms(most)} {_one(ranking)} against {second}; {_up_to(ranking, most, None)}."
    )


def _at_most(ranking: Ranking) -> str:
    """Of sides without a significant difference: how far apart they can be."""
    bounds = [bound for side in ranking.sides for bound in side.interval]
    most = max((abs(bound - 1) for bound in bounds), default=0.0) * (ranking.value(ranking.reference) or 0.0)
    return f"any difference is at most {quantities.ms(most)} {_one(ranking)}." if most and max(bounds) <= 10 else ""


def _one(ranking: Ranking) -> str:
    return _ONE.get(ranking.cells[ranking.reference].kind, "a call")


# ---- what it ranks


def compares(rankings: Sequence[Ranking]) -> str:
    """Return what the ranking is a ranking of: stacks, or the one part in which they differ; empty where that is unknown."""
    if rankings[0].factor != STACK:
        return f"the {BY_NAME[rankings[0].factor].title} alone."
    members = [member for ranking in rankings for member in ranking.members]
    parts = {part for c in members for part in c.differs_in}
    shown = quantities.listed([_PARTS.get(part, part) for part in PARTS if part in parts])
    if len(parts) < 2:
        return f"the {shown} alone." if parts else ""
    if parts <= set(PROTOCOL):
        return f"protocols alone: {shown} differ."
    if all(cell.kind == "codec" for ranking in rankings for cell in (ranking.cells[name] for name in ranking.names)):
        return f"{shown}, without a network."
    if not parts & set(PROTOCOL):
        return f"{shown}; the protocol is the same."
    others = [_PARTS.get(part, part) for part in PARTS if part in parts and part not in PROTOCOL]
    verb = "differs" if len(others) == 1 else "differ"
    text = f"stacks, not protocols: {quantities.listed(others)} {verb} too."
    return text if "service" in parts else f"{text} Codec alone: `{_CODEC_ALONE}`."


# ---- how sure


def certainty(summary: RunSummary, rankings: Sequence[Ranking]) -> str:
    """Return how many repeats, which differences they detect and what detects more, and whose limit was reached."""
    blocks = [len(m.by_block) for ranking in rankings for m in ranking.members if m.by_block]
    if not blocks:
        return ""
    least, most = min(blocks), max(blocks)
    text = f"{least if least == most else f'{least} to {most}'} repeats"
    if difference := _detectable(summary, most, rankings[0].statistic):
        text += f" detect differences from {difference} on (80 % power)"
    clauses = [*_waited_for(summary), *_by_p99(summary, rankings), *_failures(rankings)]
    if limits := effects.limits(rankings):
        ends = {"both": "one of the ends", "responder": "the server", "requester": "the client"}
        clauses += [f"{ends[end]} is the bottleneck of {some(labels, 3)}" for end, labels in limits.items()]
    if (envelope := max(ranking.envelope for ranking in rankings)) > log(1 + summary.matters):
        clauses.append(f"the reference differs from itself by {quantities.difference(exp(envelope) - 1)}")
    further = "" if UNTIL.of(summary) else more(summary)
    return f"{'; '.join(filter(None, (text, further, *clauses)))}."


def _waited_for(summary: RunSummary) -> list[str]:
    stopped = UNTIL.of(summary)
    if stopped is None:
        return []
    wanted = f"intervals were to be within ± {quantities.margin(stopped.within)}"
    if all(width.reaches is not None and width.reaches <= stopped.within for width in stopped.widths):
        return [f"{wanted}: reached after {stopped.blocks} of at most {stopped.at_most} repeats"]
    is_over = stopped.blocks >= stopped.at_most
    return [f"{wanted}: not reached within {stopped.at_most} repeats"] if is_over else []


def _by_p99(summary: RunSummary, rankings: Sequence[Ranking]) -> list[str]:
    """Which is faster by p99 where the median says otherwise, of a single setting."""
    if len(rankings) > 1 or rankings[0].statistic != "median":
        return []
    (ranking,) = rankings
    by_median = {(m.cell, m.reference_cell): m.standing for m in ranking.members}
    texts = []
    for c in summary.comparisons:
        pair = (c.cell, c.reference_cell)
        standing = by_median.get(pair)
        if c.statistic != "p99" or c.control or standing is None or c.standing == standing:
            continue
        if c.factor == ranking.factor and c.standing in ("faster", "slower"):
            first, second = pair if c.standing == "faster" else pair[::-1]
            texts.append(f"{named(ranking.names[first])} is faster than {named(ranking.names[second])}")
    return [f"by p99, {quantities.listed(texts[:3])}"] if texts else []


def _failures(rankings: Sequence[Ranking]) -> list[str]:
    cells = {cell: ranking.cells[cell] for ranking in rankings for cell in ranking.names}.values()
    failed = [cell for cell in cells if cell.counts.requests and cell.counts.failed > _FEW * cell.counts.requests]
    clauses = []
    if failed:
        worst = max(failed, key=lambda cell: cell.counts.failed / cell.counts.requests)
        lost = quantities.no_reply(worst.counts.failed, worst.counts.requests, worst.kind)
        clauses.append(f"with {named(worst.labels.stack)} {lost}, and counts as slowest")
    if unsent := [cell for cell in cells if cell.counts.share_unsent > MOST_UNSENT]:
        most = max(unsent, key=lambda cell: cell.counts.share_unsent)
        clauses.append(
            f"{quantities.percent(most.counts.share_unsent)} of what was due with {named(most.labels.stack)} was not sent"
        )
    return clauses


def _detectable(summary: RunSummary, blocks: int, statistic: str) -> str:
    compared = sum(1 for c in summary.comparisons if c.statistic == statistic and not c.control)
    sd = power.spread_of(summary.comparisons, statistic)
    if not sd:
        return ""
    least = power.smallest_detectable(sd, blocks, margin=summary.matters, compared=max(1, compared))
    return "" if least is None or least > 100 else quantities.difference(least)


def _of_effect(effect: Effect, least: float, factor: str) -> str:
    what = "the choice between stacks" if factor == STACK else f"the {BY_NAME[factor].title}"
    if effect.factor == "connection" and effect.better == "reuse":
        return (
            f"Keep connections open first: that is worth {quantities.ms(effect.gap)} a call, {what} at most "
            f"{quantities.ms(least)}."
        )
    choice = BY_NAME[effect.factor]
    return (
        f"The {choice.title} decides more: {choice.briefly(effect.better)} rather than {choice.briefly(effect.worse)} "
        f"makes {quantities.ms(effect.gap)} with {named(effect.stack)}, {what} at most {quantities.ms(least)}."
    )


def power_sentence(statement: PowerStatement) -> str:
    """Return what a plan's repeats can tell, and how many it takes."""
    lead = f"{quantities.count(statement.repeats, 'repeat')} of {FEWEST_BLOCKS} that an interval needs"
    if statement.smallest_detectable is not None:
        detectable = quantities.difference(statement.smallest_detectable)
        lead = f"{statement.repeats} repeats detect differences in medians from {detectable} on (80 % power)"
    settled = statement.repeats_to_settle
    needed = f"over {power.MOST_BLOCKS:,}" if settled is None else f"{settled:,}"
    spread = spread_text(statement.sd, statement.sd_of_run)
    return f"{lead}; {quantities.margin(statement.wanted)}, which matters here, takes {needed} ({spread})."


def spread_text(sd: float, run: str | None) -> str:
    """Return how much blocks are taken to differ, and since which run."""
    source = "a default, as no earlier run shows it" if run is None else f"run {run}"
    return f"spread from block to block {quantities.difference(exp(sd) - 1)}: {source}"


def is_short_of_p99(summary: RunSummary) -> bool:
    """Whether p99 ranks, and the trials of a cell have fewer requests than that takes."""
    is_known = [any(trial.p99 for trial in cell.trials) for cell in summary.cells]
    return ranked_by(summary) == "p99" and not all(is_known)


def next_step(summary: RunSummary) -> str:
    """Return what to do about a run that could compare nothing, in a sentence."""
    if is_short_of_p99(summary):
        return f"Measure {FOR_P99:,} requests or more in each trial (`load.requests`, or a longer `load.duration`)."
    return f"{capital(more(summary) or 'measure more repeats')}."


def more(summary: RunSummary) -> str:
    """Return how many repeats detect what matters, as the plan counts them; empty where these do."""
    statistic = ranked_by(summary)
    compared = [c for c in summary.comparisons if c.statistic == statistic and not c.control]
    planned = max(
        [len(c.by_block) for c in compared] + [cell.counts.planned_trials for cell in summary.cells], default=0
    )
    if planned >= FEWEST_BLOCKS and all(c.interval is None for c in compared):
        return "more repeats alone do not help: see `orch runs check`"
    sd = power.spread_of(summary.comparisons, statistic) or power.assumed_sd(summary.plan)
    needed = power.repeats_to_settle(summary.matters, sd, compared=max(1, len(compared)))
    share = quantities.margin(summary.matters)
    if needed is None or needed > _MOST_REPEATS:
        repeats = "over 1,000" if needed is None else f"{needed:,}"
        return f"for {share}: {repeats} repeats at this spread, so measure longer trials, or raise `matters`"
    return f"for {share}: `--set repeats={needed}`" if needed > planned else ""
