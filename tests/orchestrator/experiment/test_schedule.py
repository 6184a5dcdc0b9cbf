from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.experiment.plan import Cell
from orchestrator.experiment.schedule import schedule
from services.harness.contract import Load, Warmup


def cell(name: str, placement: str) -> Cell:
    return Cell(
        id=f"{name}-{placement}",
        stack="s",
        operation="o",
        placement=placement,
        connection="reuse",
        load=Load(requests=1),
        warmup=Warmup(),
    )


matrices = st.builds(
    lambda names, placements: [cell(str(n), p) for n in range(names) for p in placements],
    st.integers(min_value=1, max_value=8),
    st.lists(st.sampled_from(["local", "same-zone", "cross-region"]), min_size=1, max_size=3, unique=True),
)
repeats = st.integers(min_value=1, max_value=6)
seeds = st.integers(min_value=0, max_value=2**63 - 1)


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


@given(matrices, repeats, seeds)
def test_the_seed_alone_decides(cells: list[Cell], repeats: int, seed: int) -> None:
    assert schedule(cells, repeats, seed) == schedule(cells, repeats, seed)


@given(matrices, seeds)
def test_every_trial_has_a_seed_of_its_own(cells: list[Cell], seed: int) -> None:
    found = [trial.seed for trial in schedule(cells, 4, seed)]
    assert len(set(found)) == len(found)
    assert all(0 <= trial_seed < 2**63 for trial_seed in found)


def test_another_seed_gives_another_order() -> None:
    cells = [cell(str(n), "local") for n in range(20)]
    assert [t.cell for t in schedule(cells, 3, 1)] != [t.cell for t in schedule(cells, 3, 2)]


def test_blocks_differ_in_their_order() -> None:
    trials = schedule([cell(str(n), "local") for n in range(20)], 2, 1)
    assert [t.cell for t in trials[:20]] != [t.cell for t in trials[20:]]


def test_a_trials_seed_does_not_depend_on_the_other_cells() -> None:
    few = {t.cell: t.seed for t in schedule([cell("a", "local")], 1, 7)}
    many = {t.cell: t.seed for t in schedule([cell("a", "local"), cell("b", "local")], 1, 7)}
    assert few["a-local"] == many["a-local"]
