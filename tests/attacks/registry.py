"""Every attack there is."""

from __future__ import annotations

from tests.attacks import cloud, damage, endings, experiments, kills, misbehaving
from tests.attacks.base import Attack

ATTACKS: tuple[Attack, ...] = (
    *damage.ATTACKS,
    *experiments.ATTACKS,
    *kills.ATTACKS,
    *endings.ATTACKS,
    *misbehaving.ATTACKS,
    *cloud.ATTACKS,
)
