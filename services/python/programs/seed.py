"""Seed a database: `python -m services.python.programs.seed`, told of a store by one line of JSON on stdin.

The line has `store` and `database` as `resources` of a serve line has them, so that no password stands among arguments. What
is there and as it should be stays; what is not is refused, and left. The last line on stdout is one JSON object.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import NoReturn, TextIO

from services.python.stores import seed
from services.python.stores.base import DATABASE, POSTGRESQL, SQLITE, STORE, StoreError

_ROWS = seed.ACCOUNTS + seed.TRANSACTIONS
_WIDTH = 40


class Bar:
    """A bar of progress on a terminal; nothing elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream if stream.isatty() else None

    def __call__(self, done: int) -> None:
        """Show how many rows are seeded."""
        if self._stream is not None:
            full = _WIDTH * done // _ROWS
            self._stream.write(f"\rseeding [{'#' * full}{' ' * (_WIDTH - full)}] {done:,} of {_ROWS:,} rows")
            self._stream.write("\n" if done == _ROWS else "")
            self._stream.flush()


def seeded(settings: dict[str, str], bar: Bar) -> dict[str, object]:
    """Seed and verify the store of these settings: what came of it. StoreError."""
    kind, database = settings.get(STORE), settings.get(DATABASE, "")
    began_s = time.monotonic()
    if kind == SQLITE:
        from services.python.stores import sqlite

        is_new, version = sqlite.seeded(Path(database), bar), sqlite.sqlite3.sqlite_version
    elif kind == POSTGRESQL:
        from services.python.stores import postgresql

        is_new, version = postgresql.seeded(database, bar)
    else:
        raise StoreError(f"only {SQLITE} and {POSTGRESQL} are seeded, not {kind!r}")
    return {
        "is_new": is_new,
        "version": version,
        "accounts": seed.ACCOUNTS,
        "transactions": seed.TRANSACTIONS,
        "digest": seed.DIGEST,
        "took_s": round(time.monotonic() - began_s, 3),
    }


def main() -> NoReturn:
    """Read the line, seed, and say what came of it; exit status 1 with one line on stderr where it could not be."""
    try:
        told = json.loads(sys.stdin.readline())
        found = seeded(told, Bar(sys.stderr))
    except (ValueError, OSError, ImportError, AttributeError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    sys.stdout.write(json.dumps(found) + "\n")
    sys.exit(0)


if __name__ == "__main__":
    main()
