"""What a signal does while something is half made, or half removed."""

from __future__ import annotations

import signal
import sys


def heed_interrupts() -> None:
    """Turn SIGTERM and SIGINT into exceptions, so that a half-made thing is removed when Terraform is told to stop.

    Also where SIGINT came ignored, as it does to whatever a shell started in the background.
    """
    signal.signal(signal.SIGTERM, lambda signum, _frame: sys.exit(128 + signum))
    signal.signal(signal.SIGINT, signal.default_int_handler)


def ignore_interrupts() -> None:
    """Finish cleaning up: an impatient second Ctrl-C would leave behind what the first one started to remove."""
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.SIG_IGN)
