"""Pack Plotly's cartesian bundle for reports: `python orchestrator/report/assets/vendor.py package/plotly-cartesian.min.js`.

Deterministic: the same bundle gives the same bytes (no time stamp, no file name in the gzip header).
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from pathlib import Path


def pack(bundle: Path, into: Path) -> str:
    """Write `bundle` compressed to `into`; returns the SHA-256 of the unpacked text, for the README beside it."""
    text = bundle.read_bytes()
    into.write_bytes(gzip.compress(text, compresslevel=9, mtime=0))
    return hashlib.sha256(text).hexdigest()


if __name__ == "__main__":
    digest = pack(Path(sys.argv[1]), Path(__file__).with_name("plotly-cartesian.min.js.gz"))
    sys.stdout.write(f"{digest}\n")
