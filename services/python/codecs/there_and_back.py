"""Whether Protocol Buffers bring a JSON document back as it was: `python -m ... [SCHEMA]`, with the document on stdin.

Prints in one line why not, and nothing if they do. As a message of the descriptor set in the file SCHEMA, else as
`google.protobuf.Value` (`protos/documents.md`). A program of its own, so that who plans loads none of it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    """Carry the document on stdin."""
    try:
        from services.python.codecs.by_schema import method_of
        from services.python.load.client import CallFailed
    except ImportError:
        return  # it cannot be known here; the ends look before they measure
    schema = Path(sys.argv[1]).read_bytes() if len(sys.argv) > 1 else None
    try:
        method_of("echo", {"document": json.loads(sys.stdin.buffer.read())}, schema)
    except CallFailed as error:
        sys.stdout.write(" ".join(error.detail.split()) + "\n")


if __name__ == "__main__":
    main()
