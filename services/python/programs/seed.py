"""Seed a database, `python -m services.python.programs.seed`: which one stands in one line of JSON on its stdin.

The line has `store` and `database` as `resources` of a serve line has them, so that no password stands among arguments. What
is there and as it should be stays; what is not is refused, and left. Each line on stdout is a JSON object: how many rows are
`done`, of how many, and at the end what came of it.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from services.python.stores import seed
from services.python.stores.base import DATABASE, POSTGRESQL, SQLITE, STORE, Progress, StoreError

_ROWS = seed.ACCOUNTS + seed.TRANSACTIONS


def seeded(settings: dict[str, str], on_progress: Progress) -> dict[str, Any]:
    """Seed and verify the store of these settings: what came of it. StoreError."""
    kind, database = settings.get(STORE), settings.get(DATABASE, "")
    began_s = time.monotonic()
    if kind == SQLITE:
        import sqlite3

        from services.python.stores import sqlite

        is_new, version = sqlite.seeded(Path(database), on_progress), sqlite3.sqlite_version
    elif kind == POSTGRESQL:
        from services.python.stores import postgresql

        is_new, version = postgresql.seeded(database, on_progress)
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


def _print(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main() -> NoReturn:
    """Read the line, seed, and say what came of it; exit status 1 with one line on stderr where it could not be."""
    try:
        told = json.loads(sys.stdin.readline())
        _print(seeded(told, lambda done: _print({"done": done, "of": _ROWS})))
    except (ValueError, OSError, ImportError, AttributeError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    sys.exit(0)


if __name__ == "__main__":
    main()
