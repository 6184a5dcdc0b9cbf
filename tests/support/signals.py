"""Signals as a terminal's shell leaves them. Under `nohup`, or as a background job of a script, some arrive ignored."""

from __future__ import annotations

import signal


def as_from_a_terminal() -> None:
    """Nothing that this process starts inherits an ignored Ctrl-C, SIGTERM or SIGHUP."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for other in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(other) is signal.SIG_IGN:
            signal.signal(other, signal.SIG_DFL)
