"""Words of the checks in `orchestrator/checks/ends`."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.wording.checks.vocabulary import Words

WORDS: Mapping[str, Mapping[str, Words]] = {}
