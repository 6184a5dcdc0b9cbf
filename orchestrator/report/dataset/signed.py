"""What `orch sign` vouches for of a report: the samples and documents inside, without names and with them.

`manifest.json.sig` is of a manifest with names, which most reports do not carry. So a second, short text is signed: the
digest of what a report of the run carries, in both forms. It lies in the run folder, and travels in the report.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from orchestrator.errors import InvalidMeasurement
from orchestrator.report.dataset import container
from orchestrator.report.dataset.run import Dataset
from orchestrator.results import sizes
from orchestrator.results.paths import inside, read_bytes
from orchestrator.strict_json import parse_json

STATEMENT, SIGNATURE = "dataset.json", "dataset.json.sig"
"""What is signed, and the signature, in a run folder."""


def statement(*forms: Dataset) -> bytes:
    """The text that is signed for a run: what its reports carry, in each of these forms."""
    run_id = forms[0].about.run_id
    return json.dumps({"run_id": run_id, "datasets": [_digest(form) for form in forms]}, indent=1).encode() + b"\n"


def with_signature(dataset: Dataset, folder: Path) -> Dataset:
    """The dataset with what somebody signed of it, where the folder holds that; a signature of anything else is left out."""
    with suppress(FileNotFoundError, InvalidMeasurement):
        found = {
            container.SIGNED: read_bytes(inside(folder, STATEMENT), sizes.NOTE),
            container.SIGNATURE: read_bytes(inside(folder, SIGNATURE), sizes.SIGNATURE),
        }
        signed = replace(dataset, signed=found)
        if is_covered(signed):
            return signed
    return dataset


def is_covered(dataset: Dataset) -> bool:
    """Whether the signed text speaks of these very samples and documents; who signed it is not looked at."""
    try:
        said = parse_json(dataset.signed[container.SIGNED])
    except (KeyError, ValueError):
        return False
    listed = said.get("datasets") if isinstance(said, dict) else None
    return isinstance(listed, list) and _digest(dataset) in listed


def _digest(dataset: Dataset) -> str:
    return hashlib.sha256(dataset.core()).hexdigest()
