"""Between warm-up and the measured phase: a requester says that it is warm, and waits until it may measure."""

from __future__ import annotations

from collections.abc import Callable

from services.python.contract.lines import Trial
from services.python.contract.requester_lines import Warm
from services.python.load.phases import NS
from services.python.probes.clock import Clock
from services.python.programs.parts import Print

MayMeasure = Callable[[], int | None]
"""From which moment of the wall clock on, in Unix nanoseconds (0: at once); None while it may not."""

_BETWEEN_LOOKS_S = 0.001


def hold_back(
    trial: Trial,
    warmed: int,
    wait: Callable[[float], None],
    print_line: Print,
    clock: Clock,
    may_measure: MayMeasure,
) -> None:
    """Let time pass until `may_measure`, where the trial asks for that, and until the moments that both give.

    `warmed` is how many requests the warm-up had; `wait` keeps connections alive meanwhile.
    """
    begin_ns = trial.start_at_unix_ns or 0
    if trial.hold:
        print_line(Warm(requests=warmed))
        while (moment_ns := may_measure()) is None:
            wait(_BETWEEN_LOOKS_S)
        begin_ns = max(begin_ns, moment_ns)
    if begin_ns:
        wait(max(0.0, (begin_ns - clock.wall_ns()) / NS))
