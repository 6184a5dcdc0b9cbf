"""Coverage, false winners and bias of trials in turns, by simulation with the real intervals and the real rule for turns.

    python -m benchmarks.turn_blocks [--runs 400] [--seed 1] [--write]

Every simulated run has twelve equal stacks. In a block they take 40 turns each, of 40 requests; a round's mood is common
to all of its turns, some turns are slow by chance, and process and block have an effect of their own. `disturbed` turns
lose 10 to 80 % of their time, which the kernel counts in ticks of 10 ms, as long as a turn.
Before the arrow a block compares the medians of all requests, behind it each turn with its neighbours
(`findings.block_values`), without the turns that the rule of `results.turn_times` leaves out and measures again.
*Bias* is the mean of the last stack's log ratios to the first one, against no difference; it is disturbed
twice as often where that is said. *Half-width* is the middle one of a single interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from benchmarks.simulated import print_tables
from orchestrator.findings.block_values import of_turns
from orchestrator.results.turn_times import TurnTime, disturbed, stolen_beside
from orchestrator.statistics import intervals

STACKS, ROUNDS, REQUESTS, TURN_S = 12, 40, 40, 0.01
TICK_S = 0.01
BLOCKS = (3, 5, 10)
_SPELL = 12  # rounds that a neighbour computes, and rests
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Noise:
    """SDs of logs (exponential: of turns), how moods depend on the one before, tails of latencies, disturbed turns."""

    mood_sd: float = 0.2
    correlation: float = 0.0
    process_sd: float = 0.01
    turn_sd: float = 0.05
    freedom: float | None = None  # of Student's t, whose tails latencies then have
    disturbed: tuple[float, float] = (0.0, 0.0)  # of all stacks but the last, and of the last
    spread: float = 0.25  # of the logs of latencies within a turn
    neighbour: float = 0.0  # what somebody who computes in every other twelve rounds adds to the log of a latency


NOISES = {
    "independent rounds": Noise(),
    "rounds depend on each other (0.95)": Noise(correlation=0.95),
    "processes differ by 3 %": Noise(correlation=0.95, process_sd=0.03),
    "a neighbour for half of the time": Noise(mood_sd=0.05, correlation=0.95, spread=0.06, neighbour=0.35),
    "heavy tails": Noise(correlation=0.95, freedom=2.0),
    "a fifth of turns disturbed": Noise(correlation=0.95, disturbed=(0.2, 0.2)),
    "half of turns disturbed": Noise(correlation=0.95, disturbed=(0.5, 0.5)),
    "two thirds of turns disturbed": Noise(correlation=0.95, disturbed=(0.66, 0.66)),
    "a fifth, two fifths of the last stack's": Noise(correlation=0.95, disturbed=(0.2, 0.4)),
}


def moods(rng: np.random.Generator, noise: Noise, rounds: int) -> Floats:
    """What each round adds to the log of every latency."""
    steps = rng.normal(0, noise.mood_sd, rounds)
    for place in range(1, rounds):
        steps[place] = noise.correlation * steps[place - 1] + sqrt(1 - noise.correlation**2) * steps[place]
    is_beside = (np.arange(rounds) + rng.integers(2 * _SPELL)) // _SPELL % 2
    return steps + noise.neighbour * is_beside


def block(rng: np.random.Generator, noise: Noise) -> tuple[Floats, Floats]:
    """The log of each stack's ratio to the first one in a block: of joined medians, and by the rules in use."""
    rounds = ROUNDS + ROUNDS // 2  # the last ones only for turns that are measured again
    shape = (STACKS, rounds)
    share = np.full(STACKS, noise.disturbed[0])
    share[-1] = noise.disturbed[1]
    lost = np.where(rng.uniform(size=shape) < share[:, None], rng.uniform(0.1, 0.8, shape), 0.0)
    level = moods(rng, noise, rounds) + noise.turn_sd * rng.exponential(size=shape) - np.log(1 - lost)
    each = (*shape, REQUESTS)
    tail = rng.normal(size=each) if noise.freedom is None else rng.standard_t(noise.freedom, each)
    latencies = level[:, :, None] + noise.spread * tail
    process = rng.normal(0, noise.process_sd, STACKS)
    joined = np.median(latencies[:, :ROUNDS].reshape(STACKS, -1), axis=1) + process
    medians = np.exp(np.median(latencies, axis=2) + process[:, None])
    counted = np.floor(rng.uniform() + np.cumsum(lost.T) * TURN_S / TICK_S)  # turn by turn, round by round
    ticks = np.diff(counted, prepend=0.0).reshape(rounds, STACKS).T
    stolen = stolen_beside(map(_turn, ticks[:, :ROUNDS].flat))
    turns = [
        [(STACKS * place + stack, float(medians[stack, place])) for place in counting(ticks[stack], stolen)]
        for stack in range(STACKS)
    ]
    return joined - joined[0], np.log([of_turns(own, turns[0]) for own in turns])


def counting(ticks: Floats, stolen: float) -> list[int]:
    """The turns of a trial that count: those before the repeats, and as many repeats as there are disturbed ones."""
    first = disturbed(list(map(_turn, ticks[:ROUNDS])), stolen)
    made = ROUNDS + min(sum(first), ROUNDS // 2)
    every = disturbed(list(map(_turn, ticks[:made])), stolen)
    return [place for place in range(made) if not every[place]]


def _turn(ticks: float) -> TurnTime:
    end_ns = round(TURN_S * 1e9)
    return TurnTime(requests=REQUESTS, warm_up=0, begin_ns=0, end_ns=end_ns, cpu_s=0.0, stolen_s=ticks * TICK_S)


def judged(blocks: Floats) -> tuple[list[bool], bool, float, float]:
    """Of one run: whether each interval holds 1, whether any pair has a winner, the last mean log ratio, the half-width."""
    ratios = blocks[:, 1:]
    own = [intervals.log_mean(column) for column in ratios.T]
    bounds = list(filter(None, (result.interval() for result in own)))
    shared = [result for result in intervals.moderated(own) if result is not None]
    levels = intervals.holm_levels([result.p_value or 0.0 for result in shared])
    corrected = filter(None, (result.interval(level) for result, level in zip(shared, levels, strict=True)))
    wins = any(not low <= 1 <= high for low, high in corrected)
    width = float(np.median([sqrt(high / low) - 1 for low, high in bounds]))
    return [low <= 1 <= high for low, high in bounds], wins, float(ratios[:, -1].mean()), width


def table(runs: int, seed: int) -> Iterator[str]:
    """The lines of the table, in Markdown."""
    yield "| noise | blocks | single intervals that hold 1 | half-width | runs with a false winner | bias of the last |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for name, noise in NOISES.items():
        for blocks in BLOCKS:
            rng = np.random.default_rng([seed, blocks])
            made = [[block(rng, noise) for _ in range(blocks)] for _ in range(runs)]
            shown: list[list[str]] = [[], [], [], []]
            for rule in (0, 1):
                outcomes = [judged(np.array([pair[rule] for pair in run])) for run in made]
                held = [holds for holding, *_ in outcomes for holds in holding]
                shown[0].append(f"{100 * sum(held) / len(held):.1f}")
                shown[1].append(f"{100 * np.median([width for *_, width in outcomes]):.1f}")
                shown[2].append(f"{100 * sum(wins for _, wins, _, _ in outcomes) / runs:.1f}")
                shown[3].append(f"{100 * (np.exp(np.mean([bias for _, _, bias, _ in outcomes])) - 1):.1f}")
            yield f"| {name} | {blocks} | {' | '.join(' → '.join(column) + ' %' for column in shown)} |"


def main() -> None:
    """Print the table, and with `--write` keep it."""
    print_tables("python -m benchmarks.turn_blocks", table, names=("turns",), runs=400)


if __name__ == "__main__":
    main()
