import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, groupby, pairwise, permutations

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.experiment.plan.plan import Cell
from orchestrator.experiment.plan.schedule import balanced_orders, schedule
from services.python.contract.lines import Load, Warmup


def cell(name: str, placement: str) -> Cell:
    return Cell(
        id=f"{name}-{placement}",
        stack="s",
        operation="o",
        placement=placement,
        factors={"connection": "reuse"},
        load=Load(requests=1),
        warmup=Warmup(),
    )


matrices = st.builds(
    lambda names, placements: [cell(str(n), p) for n in range(names) for p in placements],
    st.integers(min_value=1, max_value=8),
    st.lists(st.sampled_from(["local", "same-zone", "cross-region"]), min_size=1, max_size=3, unique=True),
)
repeats = st.integers(min_value=1, max_value=6)
seeds = st.integers(min_value=0, max_value=2**53 - 1)


@given(matrices, repeats, seeds)
def test_every_block_holds_every_cell_once(cells: list[Cell], repeats: int, seed: int) -> None:
    trials = schedule(cells, repeats, seed)
    assert [trial.index for trial in trials] == list(range(len(cells) * repeats))
    blocks = {block: [t.cell for t in group] for block, group in groupby(trials, key=lambda t: t.block)}
    assert list(blocks) == list(range(repeats))
    for held in blocks.values():
        assert sorted(held) == sorted(c.id for c in cells)


@given(matrices, repeats, seeds)
def test_the_placements_of_a_block_come_one_after_the_other(cells: list[Cell], repeats: int, seed: int) -> None:
    placement = {c.id: c.placement for c in cells}
    for _, group in groupby(schedule(cells, repeats, seed), key=lambda t: t.block):
        visits = [name for name, _ in groupby(placement[t.cell] for t in group)]
        assert len(visits) == len(set(visits))


@given(matrices, seeds)
def test_trials_of_a_block_share_a_seed_where_they_ask_the_same(cells: list[Cell], seed: int) -> None:
    """So that stacks carry the same content, and meet the same arrivals; another block or operation has its own."""
    asked = {cell.id: cell.operation for cell in cells}
    found: dict[tuple[int, str], set[int]] = {}
    for trial in schedule(cells, 4, seed):
        found.setdefault((trial.block, asked[trial.cell]), set()).add(trial.seed)
    assert all(len(of) == 1 for of in found.values())
    distinct = set().union(*found.values())
    assert len(distinct) == len(found)
    assert all(0 <= trial_seed < 2**53 for trial_seed in distinct)


def imbalance(rows: Sequence[Sequence[int]], count: int) -> tuple[int, int, int]:
    """By how much positions, precedence and neighbours differ: the largest number of times less the smallest."""
    at, before, next_to = Counter(), Counter(), Counter()
    for row in rows:
        at.update((item, position) for position, item in enumerate(row))
        before.update(combinations(row, 2))
        next_to.update(pairwise(row))
    places = [at[item, position] for item in range(count) for position in range(count)]
    ordered = list(permutations(range(count), 2))
    neighbours = [next_to[pair] for pair in ordered] or [0]
    return (
        max(places) - min(places),
        max((abs(before[a, b] - before[b, a]) for a, b in ordered), default=0),
        max(neighbours) - min(neighbours),
    )


@given(st.integers(min_value=1, max_value=12), st.integers(min_value=1, max_value=30), seeds)
def test_positions_precedence_and_neighbours_are_balanced_after_any_number_of_blocks(
    count: int, blocks: int, seed: int
) -> None:
    orders = balanced_orders(count, blocks, random.Random(seed))
    assert all(sorted(order) == list(range(count)) for order in orders)
    positions, precedence, neighbours = imbalance(orders, count)
    assert positions <= 1
    assert precedence <= (2 if count % 2 and blocks % 2 == 0 else 1)
    assert neighbours <= (1 if count % 2 == 0 else 2)
