"""How sure claims about languages are, by simulation of matrices whose effects are known, with the real analysis.

    python -m benchmarks.language_effects [--runs 1000] [--seed 1] [--write]

A simulated run has a log for each cell and block: the cell's own mean, what the whole block has in common, and noise of
one of `NOISES`. The cells' means are drawn once and scaled so that every effect has the mean square it shall have. `--write`
keeps the tables in docs/validation/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.simulated import print_tables
from orchestrator.questions.languages.estimates import Decomposition, decompose
from orchestrator.statistics import intervals

BLOCKS = (3, 5, 10)
LEVELS = (2, 3, 3)  # protocols, languages that answer, languages that ask
_LASTING = 0.7
_BLOCK_SD = 0.1  # of what a whole block has in common
PROTOCOL, RESPONDER, REQUESTER = frozenset({0}), frozenset({1}), frozenset({2})

Floats = npt.NDArray[np.float64]
Effect = frozenset[int]
Truth = Mapping[Effect, float]
"""The mean square of each effect over the cells; of one that is not named it is 0."""

MIXED: Truth = {
    PROTOCOL: 0.04,
    RESPONDER: 0.09,
    REQUESTER: 0.03,
    PROTOCOL | RESPONDER: 0.02,
    PROTOCOL | REQUESTER: 0.005,
    RESPONDER | REQUESTER: 0.005,
    PROTOCOL | RESPONDER | REQUESTER: 0.005,
}
ALONE: Truth = {PROTOCOL: 0.04}
SMALL: Truth = {effect: square / 25 for effect, square in MIXED.items()}  # 9 % apart where MIXED is 56 %
ALIKE: Truth = {PROTOCOL: 0.03, RESPONDER: 0.04, REQUESTER: 0.04}  # a change of each goes equally far
NOTHING: Truth = {}


def even(rng: np.random.Generator, shape: tuple[int, ...], sd: float) -> Floats:
    """Normal, alike in every cell."""
    return rng.normal(0.0, sd, shape)


def uneven(rng: np.random.Generator, shape: tuple[int, ...], sd: float) -> Floats:
    """Normal, in some cells several times as wide as in others."""
    wide = sd * np.exp(np.random.default_rng(9).normal(0.0, 0.7, shape[1:]))
    return np.asarray(rng.normal(0.0, 1.0, shape) * wide)


def together(rng: np.random.Generator, shape: tuple[int, ...], sd: float) -> Floats:
    """Normal, and in each block all cells of a level are faster or slower together."""
    noise = rng.normal(0.0, sd, shape)
    for place in range(1, len(shape)):
        of_levels = [size if at in (0, place) else 1 for at, size in enumerate(shape)]
        noise = noise + rng.normal(0.0, sd, of_levels)
    return np.asarray(noise)


def heavy(rng: np.random.Generator, shape: tuple[int, ...], sd: float) -> Floats:
    """Student's t with three degrees of freedom: now and then a trial is far off."""
    return np.asarray(rng.standard_t(3, shape) * sd / np.sqrt(3))


def two_groups(rng: np.random.Generator, shape: tuple[int, ...], sd: float) -> Floats:
    """Every trial is of one of two speeds, as if by the toss of a coin, and little else."""
    return np.asarray(np.where(rng.random(shape) < 0.5, -sd, sd) + rng.normal(0.0, sd / 10, shape))


def lasting(rng: np.random.Generator, shape: tuple[int, ...], sd: float) -> Floats:
    """Each trial of a cell takes over seven tenths of how far the one before was off: no interval here knows of that."""
    fresh = rng.normal(0.0, sd, shape)
    found = [fresh[0]]
    for block in fresh[1:]:
        found.append(_LASTING * found[-1] + np.sqrt(1 - _LASTING**2) * block)
    return np.array(found)


NOISES: dict[str, Callable[[np.random.Generator, tuple[int, ...], float], Floats]] = {
    "even": even,
    "uneven": uneven,
    "together": together,
    "heavy": heavy,
    "two groups": two_groups,
    "lasting": lasting,
}


def means(truth: Truth, seed: int = 3) -> Floats:
    """Cells' means with effects of these mean squares."""
    drawn = np.random.default_rng(seed).standard_normal(LEVELS)
    found = np.zeros(LEVELS)
    for effect, square in truth.items():
        part = drawn
        for place in range(len(LEVELS)):
            mean = part.mean(axis=place, keepdims=True)
            part = part - mean if place in effect else np.broadcast_to(mean, LEVELS)
        found = found + part * np.sqrt(square / (part**2).mean())
    return found


def simulated(rng: np.random.Generator, of: Floats, *, blocks: int, noise: str, sd: float) -> Decomposition:
    """One run's decomposition."""
    shape = (blocks, *of.shape)
    found = decompose(of + rng.normal(0.0, _BLOCK_SD, (blocks, 1, 1, 1)) + NOISES[noise](rng, shape, sd))
    assert found is not None, "noise tells any two cells apart"
    return found


def coverage(truth: Truth, *, blocks: int, noise: str, sd: float, runs: int, seed: int = 1) -> float:
    """Simulate runs, and count how often the 95 % interval of *language against protocol* holds the truth, as a share."""
    rng, cells = np.random.default_rng([seed, blocks]), means(truth)
    squares = [truth.get(frozenset({place}), 0.0) * LEVELS[place] / (LEVELS[place] - 1) for place in (0, 1)]
    less = (squares[1] - squares[0]) / sum(truth.values())
    bounds = [simulated(rng, cells, blocks=blocks, noise=noise, sd=sd).beyond(1, 0).interval() for _ in range(runs)]
    return sum(low <= less <= high for low, high in bounds) / runs


@dataclass(frozen=True, kw_only=True)
class Claims:
    """How often a run of one setting says that cells lie apart, and then what of a change of each language.

    It does more than a change of the protocol, or less.
    """

    apart: float
    responder_more: float
    responder_less: float
    requester_more: float
    requester_less: float


def claims(truth: Truth, *, blocks: int, noise: str, sd: float, runs: int, seed: int = 1) -> Claims:
    """Simulate runs, and count what is said."""
    rng, of = np.random.default_rng([seed, blocks, 7]), means(truth)
    said = dict.fromkeys(("apart", "responder_more", "responder_less", "requester_more", "requester_less"), 0)
    for _ in range(runs):
        found = simulated(rng, of, blocks=blocks, noise=noise, sd=sd)
        if found.variance.interval()[0] <= 0:
            continue
        said["apart"] += 1
        contrasts = [found.beyond(place, 0) for place in (1, 2)]
        levels = intervals.holm_levels([contrast.p_value for contrast in contrasts])
        for name, contrast, level in zip(("responder", "requester"), contrasts, levels, strict=True):
            low, high = contrast.interval(level)
            said[f"{name}_more"] += low > 0
            said[f"{name}_less"] += high < 0
    return Claims(**{name: count / runs for name, count in said.items()})


# ---- the tables

_COVERED = (
    *((MIXED, "even", sd) for sd in (0.03, 0.1, 0.3)),
    *((MIXED, noise, 0.1) for noise in NOISES if noise != "even"),
    (ALONE, "even", 0.1),
)
_CLAIMED = (
    ("nothing", NOTHING, "even", 0.1),
    ("nothing", NOTHING, "together", 0.1),
    ("nothing", NOTHING, "two groups", 0.1),
    ("nothing", NOTHING, "lasting", 0.1),
    ("alike", ALIKE, "even", 0.03),
    ("alike", ALIKE, "even", 0.1),
    ("alike", ALIKE, "together", 0.1),
    ("protocol alone", ALONE, "even", 0.1),
    ("all", MIXED, "even", 0.1),
    ("all", MIXED, "together", 0.1),
    ("the same, a fifth as far apart", SMALL, "even", 0.1),
)


def coverage_rows(runs: int, seed: int) -> Iterator[tuple[str, ...]]:
    """A row for each truth, noise and number of blocks."""
    for truth, noise, sd in _COVERED:
        for blocks in BLOCKS:
            held = coverage(truth, blocks=blocks, noise=noise, sd=sd, runs=runs, seed=seed)
            yield ("all" if truth is MIXED else "protocol alone", f"{noise}, {sd:.0%}", str(blocks), _percent(held))


def claim_rows(runs: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Likewise of what is said."""
    for name, truth, noise, sd in _CLAIMED:
        for blocks in BLOCKS:
            of = claims(truth, blocks=blocks, noise=noise, sd=sd, runs=runs, seed=seed)
            said = (_percent(value) for value in astuple(of))
            yield (name, f"{noise}, {sd:.0%}", str(blocks), *said)


_COVERAGE_HEADS = ("effects", "noise", "blocks", "responder's language against protocol")
_CLAIM_HEADS = (
    "effects",
    "noise",
    "blocks",
    "cells told apart",
    "responder's: more",
    "responder's: less",
    "requester's: more",
    "requester's: less",
)


def table(runs: int, seed: int) -> Iterator[str]:
    """The lines of both tables, in Markdown."""
    yield from _lines(_COVERAGE_HEADS, coverage_rows(runs, seed))
    yield ""
    yield from _lines(_CLAIM_HEADS, claim_rows(runs, seed))


def _lines(heads: Sequence[str], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join(['---'] * 2 + ['---:'] * (len(heads) - 2))} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def main() -> None:
    """Print the tables, and with `--write` keep them."""
    print_tables(
        "python -m benchmarks.language_effects", table, names=("language-effects", "language-claims"), runs=1000
    )


if __name__ == "__main__":
    main()
