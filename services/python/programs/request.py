"""The requester, `python -m services.python.programs.request`: one trial from stdin, made, and the contract's lines.

The process contract is `protos/process.md`; rows go to the file that the trial names (`protos/timings.md`).
"""

from __future__ import annotations

import gc
import queue
import signal
import sys
import traceback
from typing import NoReturn

from services.python.contract.lines import Trial, read_stdin_line
from services.python.contract.requester_lines import END, TURN, Failed, may_measure_from
from services.python.contract.strict import quotable
from services.python.probes.clock import Clock
from services.python.programs.lines import Lines, complain, end_with_stdin, leave, prepare


def main() -> NoReturn:
    """Make the trial that stands on stdin."""
    gc.disable()  # until what it loads stands: next to nothing of that is garbage
    lines = Lines()
    prepare()
    # Signals end it at once, as the rows that are stored need no farewell.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Loaded while the responder starts, so that the trial need not wait for it.
    from services.python.load.recorder import GaveUp
    from services.python.trial.parts import CannotTry
    from services.python.trial.run import make_trial

    try:
        trial = read_stdin_line(Trial, sys.stdin.buffer, "requester")
    except ValueError as error:
        _fail(lines, "trial", f"not a trial on stdin: {error}")
    words: queue.SimpleQueue[str] = queue.SimpleQueue()

    def hear(line: str) -> None:
        if line in (TURN, END) or may_measure_from(line) is not None:
            words.put(line)
        elif line:
            complain(f"request: unknown line on stdin: {line[:80]!r}; known: measure, measure UNIX_NS, {TURN}, {END}")

    end_with_stdin("request", hear)

    if trial.payload.kind == "call":
        from services.python.operations.call import secrets_of

        lines.hide(secrets_of(trial.payload))
    try:
        make_trial(trial, lines.write, Clock(), words.get)
    except (CannotTry, GaveUp) as error:
        _fail(lines, error.kind, str(error))
    except MemoryError:
        _fail(lines, "host", "the requester may take no more memory: a reply was too large, or had no end")
    except OSError as error:
        _fail(lines, "host", f"the requester's host: {error}")
    except Exception as error:  # noqa: BLE001 - the session that waits for this line must learn of any fault
        traceback.print_exc()
        _fail(lines, "fault", f"{type(error).__name__}: {error}")
    leave(0)


def _fail(lines: Lines, kind: str, message: str) -> NoReturn:
    words = lines.hidden(quotable(" ".join(message.split())))
    lines.write(Failed(kind=kind, message=words))
    complain(f"request: {words}")
    leave(1)


if __name__ == "__main__":
    main()
