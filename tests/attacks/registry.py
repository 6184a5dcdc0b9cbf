"""Every attack there is."""

from __future__ import annotations

from tests.attacks import cloud, endings, experiments, forged_kinds, kills, misbehaving, run_folders
from tests.attacks.base import Attack

ATTACKS: tuple[Attack, ...] = (
    *run_folders.ATTACKS,
    *forged_kinds.ATTACKS,
    *experiments.ATTACKS,
    *kills.ATTACKS,
    *endings.ATTACKS,
    *misbehaving.ATTACKS,
    *cloud.ATTACKS,
)
