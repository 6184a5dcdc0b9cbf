"""The sentences, over many summaries that no run has made: grammar, nothing left out that decides, no contradiction."""

import re
from dataclasses import replace
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as some

from orchestrator.analysis.answer import first_sentence
from orchestrator.analysis.equivalence import reason, standing
from orchestrator.analysis.summary import Comparison
from orchestrator.analysis.verdicts import verdicts
from orchestrator.experiment.model.factors import BY_NAME
from tests.support.summaries import a_run

STACKS = ("rest", "grpc", "cbor", "avro")
OPERATIONS = ("add", "image 1.58 MB")
PLACEMENTS = (("local", 0.05), ("same-zone", 0.4), ("far", 60.0))
POLICIES = ("reuse", "per-request")
LOADS = ("1,000 requests, 1 in flight", "1,000 requests, 16 in flight")

# What no sentence of ours may hold: counts that do not agree with their noun, "1 of 1", and values that are none.
NONSENSE = re.compile(
    r"\bof 1\b(?![,.]\d)|\b1 cannot\b|(?<![\d.,])\b1 (settings|requests|trials|blocks|cells|errors)\b|"
    r"\bin 0\b|\b0 of\b|\bNone\b|\bnan\b|\binf\b|  |\.\.|,,|;;|: \.|\( |\bis are\b|\(\)|: :|a difference below"
)


@cache
def the_cell():
    cell = a_run(stacks=1).cells[0]
    assert cell.distribution is not None
    return replace(cell, client_share=None, strip=None, trials=(), distribution=replace(cell.distribution, curve=()))


def cell_of(stack, operation, placement, policy, load, **more):
    name, rtt = placement
    return replace(
        the_cell().having(protocol=stack, client=f"client of {stack}", connection=policy),
        id="|".join((stack, operation, name, policy, load)),
        stack=stack,
        stack_label=f"{stack} (thin)",
        operation=operation,
        placement=name,
        load=load,
        ping_floor=rtt,
        **more,
    )


def is_far(interval):
    """Whether only blocks that differ very much make an interval so wide."""
    return interval is not None and interval[1] > 20 * interval[0]


def comparison(cell, reference, interval, ratio):
    policy = cell.connection if cell.connection == reference.connection else f"{cell.connection} against reuse"
    return Comparison(
        cell=cell.id,
        reference_cell=reference.id,
        group=", ".join((cell.operation, cell.placement, policy, cell.load)),
        stack=cell.stack,
        stack_label=cell.stack_label,
        reference_label=reference.stack_label,
        statistic="median",
        ratio=ratio,
        interval=interval,
        p_value=None if interval is None else 0.01,
        by_block=() if ratio is None else (interval[0], ratio, interval[1]) if is_far(interval) else (ratio,) * 3,
        blocks=() if ratio is None else (0, 1, 2),
        standing=standing(interval),
        why="2 of at least 3 blocks that an interval needs" if interval is None else reason(interval),
    )


RATIO = some.floats(min_value=0.02, max_value=50.0)
WIDTH = some.sampled_from([1.0, 1.01, 1.04, 1.3, 3.0])
ERRORS = some.sampled_from([{}, {}, {}, {"timeout": 1}, {"refused": 3, "timeout": 45}])


def factor(values):
    return some.lists(some.sampled_from(values), min_size=1, unique=True)


@some.composite
def runs(draw):
    """Cells and comparisons of a run with any part of the matrix, and any outcome in each of it."""
    stacks, operations = draw(factor(STACKS)), draw(factor(OPERATIONS))
    placements, policies, loads = draw(factor(PLACEMENTS)), draw(factor(POLICIES)), draw(factor(LOADS))
    cells, comparisons = [], []
    for operation in operations:
        for placement in placements:
            for policy in policies:
                for load in loads:
                    group = [cell_of(s, operation, placement, policy, load, errors=draw(ERRORS)) for s in stacks]
                    cells += group
                    for cell in group[1:]:
                        kind = draw(some.sampled_from(["told", "told", "few", "none", "absent"]))
                        ratio, width = draw(RATIO), draw(WIDTH)
                        if kind == "told":
                            comparisons.append(comparison(cell, group[0], (ratio / width, ratio * width), ratio))
                        elif kind != "absent":
                            comparisons.append(comparison(cell, group[0], None, ratio if kind == "few" else None))
    return cells, comparisons


@settings(max_examples=150, deadline=None)
@given(runs())
def test_every_sentence_is_one_and_holds_no_nonsense(run):
    cells, comparisons = run
    for sentence in verdicts(cells, comparisons, ()):
        assert sentence.endswith("."), sentence
        assert NONSENSE.search(sentence) is None, (NONSENSE.search(sentence), sentence)


@settings(max_examples=100, deadline=None)
@given(runs())
def test_every_comparison_has_one_outcome_in_one_sentence(run):
    """Whoever is told, tied or not resolved is named so where its group is spoken of, and in no other way."""
    cells, comparisons = run
    said = verdicts(cells, comparisons, ())
    form = {
        "tie": r"a tie by the median with [^.]*?{0} \(equivalent",
        "not resolved": r"not resolved against [^.]*?{0}(?: takes between|: the blocks differ too much| \(\S+ to \S+×\))",
        "cannot tell": r"cannot tell how [^.]*?{0}",
    }
    for group in {c.group for c in comparisons}:
        text = next(s for s in said if s.startswith(f"{group}: ") and " got " not in s)
        text = re.sub(r"(\d)\.(\d)", r"\1_\2", text)  # a full stop ends a sentence
        for c in (c for c in comparisons if c.group == group):
            label = re.escape(c.stack_label)
            ways = {
                name: re.search(pattern.format(label), text, re.IGNORECASE) is not None
                for name, pattern in form.items()
            }
            expected = {name: c.standing == name for name in form}
            assert ways == expected, (c.standing, text)
            is_told = re.search(rf"{label} (takes )?[\d_]+ (% (less|more)|times as long)", text) is not None
            assert is_told == (c.standing in ("faster", "slower")), text


@settings(max_examples=100, deadline=None)
@given(runs())
def test_errors_come_before_what_is_quick(run):
    cells, comparisons = run
    said = [" got no right reply" in s or " got a right reply" in s or " had errors" in s for s in verdicts(*run, ())]
    assert said == sorted(said, reverse=True)
    assert any(said) == any(cell.failed for cell in cells)
    del comparisons


@settings(max_examples=100, deadline=None)
@given(runs())
def test_what_is_said_over_distance_names_the_connection(run):
    cells, comparisons = run
    for sentence in verdicts(cells, comparisons, ()):
        for part in re.findall(r"For [^;]*?;over distance|For [^;]*; over distance", sentence):
            assert any(level.words in part for level in BY_NAME["connection"].levels), sentence


def by_policy(outcome, placements=PLACEMENTS[:2]):
    """grpc against rest: one interval with a kept connection, another with a new one per request."""
    cells, comparisons = [], []
    for placement in placements:
        for policy in POLICIES:
            rest, grpc = (cell_of(s, "add", placement, policy, LOADS[0]) for s in ("rest", "grpc"))
            cells += [rest, grpc]
            comparisons.append(comparison(grpc, rest, *outcome[policy]))
    return cells, comparisons


def test_the_connection_that_decides_is_named_first():
    outcome = {"reuse": ((0.65, 0.68), 0.66), "per-request": ((1.3, 1.4), 1.35)}
    said = verdicts(*by_policy(outcome), ())[0]
    assert said.startswith(
        "grpc (thin) against rest (thin): faster with connections kept open (both settings), "
        "slower with a new connection for each request (both settings)."
    )
    assert "For add with connections kept open, grpc (thin) takes 34 % less time" in said
    assert "For add with a new connection for each request, rest (thin) takes 26 % less time" in said


def test_stacks_with_connections_of_their_own_are_told_apart_by_them():
    rest = [cell_of("rest", "add", place, "reuse", LOADS[0]) for place in PLACEMENTS[:2]]
    grpc = [cell_of("grpc", "add", place, "per-request", LOADS[0]) for place in PLACEMENTS[:2]]
    rows = [comparison(mine, other, (1.9, 2.1), 2.0) for mine, other in zip(grpc, rest, strict=True)]
    said = verdicts([*rest, *grpc], rows, ())
    assert "grpc (thin) with a new connection for each request and rest (thin) with connections kept open" in said[0]
    assert all("per-request against reuse" in sentence for sentence in said[1:3])


def test_a_stack_in_a_single_setting_is_not_one_of_one():
    outcome = {"reuse": ((0.65, 0.68), 0.66), "per-request": ((0.65, 0.68), 0.66)}
    cells, rows = by_policy(outcome)
    only = cell_of("cbor", "add", PLACEMENTS[0], "reuse", LOADS[0])
    said = verdicts([*cells, only], [*rows, comparison(only, cells[0], None, None)], ())[0]
    assert said.startswith(
        "Against rest (thin), over 4 settings: grpc (thin): faster in all 4; cbor (thin): cannot tell in its"
    )


def test_the_client_is_named_where_the_label_leaves_it_out():
    outcome = {"reuse": ((0.65, 0.68), 0.66), "per-request": ((0.65, 0.68), 0.66)}
    assert verdicts(*by_policy(outcome), ())[-1] == (
        "The clients differ too, and are part of each difference: "
        "client of rest asks rest (thin); client of grpc asks grpc (thin)."
    )


def test_trials_that_failed_as_a_whole_are_said_with_the_errors():
    cell = cell_of("rest", "add", PLACEMENTS[0], "reuse", LOADS[0], failed_trials=1, planned_trials=3)
    cell = replace(cell, trials=a_run(stacks=1).cells[0].trials[:1])
    assert verdicts([cell], [], ())[0].endswith(
        "rest (thin): 1 of 2 trials failed entirely and gave no samples (3 were planned)."
    )


def three(websocket, grpc, control=None):
    """rest at 1 ms is the reference; each other one with its median and the interval of its ratio; a control's ratio."""
    cells = [cell_of(s, "add", PLACEMENTS[0], "reuse", LOADS[0]) for s in ("rest", "websocket", "grpc")]
    medians = (1.0, websocket[0], grpc[0])
    cells = [replace(c, distribution=replace(c.distribution, median=m)) for c, m in zip(cells, medians, strict=True)]
    rows = [comparison(c, cells[0], i, m) for c, (m, i) in zip(cells[1:], (websocket, grpc), strict=True)]
    if control:
        again = replace(comparison(cells[0], cells[0], (control, control), control), cell="again", control=True)
        rows.append(again)
    return next(s for s in verdicts(cells, rows, ()) if s.startswith(rows[0].group)).removeprefix(f"{rows[0].group}: ")


def test_the_first_sentence_names_the_quickest_of_several():
    said = three((0.5, (0.48, 0.52)), (0.8, (0.77, 0.83)))
    assert said.startswith("websocket (thin) is fastest; by the median, websocket (thin) takes 50 % less time")


def test_where_the_quickest_are_not_apart_that_is_said_with_the_lowest_ratio():
    said = three((0.9, (0.7, 1.15)), (1.5, (1.4, 1.6)))
    assert said.startswith(
        "which of websocket (thin) and rest (thin) is fastest is not resolved "
        "(lowest ratio so far: websocket (thin), 0.90×); "
    )
    said = three((0.5, (0.4, 0.62)), (0.55, (0.45, 0.67)))
    assert said.startswith("which of websocket (thin) and grpc (thin) is fastest is not resolved")


def test_two_that_differ_by_less_than_matters_are_both_quickest():
    said = three((0.302, (0.299, 0.305)), (0.310, (0.307, 0.313)))
    assert said.startswith("websocket (thin) and grpc (thin) are fastest, less than 5 % apart; by the median")


def test_two_that_may_differ_by_less_than_matters_are_not_resolved():
    said = three((0.302, (0.297, 0.306)), (0.310, (0.307, 0.325)))
    assert said.startswith("which of websocket (thin) and grpc (thin) is fastest is not resolved")


def test_the_quickest_is_ahead_by_more_than_the_reference_differs_from_itself():
    pair = (0.5, (0.49, 0.51)), (0.55, (0.54, 0.56))
    assert three(*pair).startswith("websocket (thin) is fastest; ")
    assert three(*pair, control=1.02).startswith("websocket (thin) is fastest; ")
    assert three(*pair, control=1.19).startswith("which of websocket (thin) and grpc (thin) is fastest is not resolved")
    assert three(*pair, control=1 / 1.19).startswith("which of websocket (thin) and grpc (thin) is fastest is not")


def also(row, statistic, ratio, width=1.02):
    interval = (ratio / width, ratio * width)
    return replace(row, statistic=statistic, ratio=ratio, interval=interval, standing=standing(interval))


def test_a_tie_names_its_statistic_and_what_is_decided_otherwise():
    cells = [cell_of(s, "add", PLACEMENTS[0], "reuse", LOADS[0]) for s in ("rest", "grpc")]
    tie = comparison(cells[1], cells[0], (0.99, 1.01), 1.0)
    rows = [tie, also(tie, "p99", 3.96), also(tie, "throughput", 1.3)]
    said = verdicts(cells, rows, ())[0].removeprefix(f"{tie.group}: ")
    assert first_sentence(said)[0] == (
        "a tie by the median with rest (thin): grpc (thin) (equivalent within 5 %); "
        "but by p99, grpc (thin) takes 3.96 times as long as rest (thin) (95 % interval 3.88 to 4.04); "
        "by throughput (time per request), grpc (thin) takes 30 % more time than rest (thin) "
        "(ratio 1.30, 95 % interval 1.27 to 1.33)."
    )


def test_what_is_decided_alike_or_not_at_all_by_p99_is_not_said_again():
    cells = [cell_of(s, "add", PLACEMENTS[0], "reuse", LOADS[0]) for s in ("rest", "grpc")]
    slower = comparison(cells[1], cells[0], (1.4, 1.6), 1.5)
    rows = [slower, also(slower, "p99", 1.5), also(slower, "throughput", 1.0, width=1.5)]
    assert "but by" not in verdicts(cells, rows, ())[0]


def test_several_that_are_too_wide_share_their_reason():
    said = three((0.99, (0.0038, 261.0)), (1.5, (0.05, 45.0)))
    assert said.endswith(
        "ot resolved against rest (thin): "
        "the blocks differ too much for websocket (thin) (under 0.01 to over 100×) and grpc (thin) (0.05 to 45.0×)."
    )


def test_an_interval_far_too_wide_is_said_to_be_so():
    said = three((0.99, (0.0038, 261.0)), (1.5, (1.4, 1.6)))
    assert "websocket (thin): the blocks differ too much (95 % interval under 0.01 to over 100 times as much)" in said


def test_many_cells_with_errors_are_summed_up():
    cells = [cell_of(s, o, PLACEMENTS[0], "reuse", LOADS[0], errors={"timeout": 5}) for s in STACKS for o in OPERATIONS]
    assert verdicts(cells, [], ())[4] == "4 more cells also had errors (see the table)."
    assert verdicts(cells[:5], [], ())[4] == "1 more cell also had errors (see the table)."


def test_the_quickest_is_that_of_the_compared_where_one_could_not_be():
    cells = [cell_of(s, "add", PLACEMENTS[0], "reuse", LOADS[0]) for s in ("rest", "grpc", "cbor", "avro")]
    rows = [comparison(cells[1], cells[0], (0.45, 0.55), 0.5), comparison(cells[2], cells[0], (0.9, 1.2), 1.05)]
    said = verdicts(cells, [*rows, comparison(cells[3], cells[0], None, None)], ())[0]
    assert "grpc (thin) is fastest of those that could be compared; " in said
