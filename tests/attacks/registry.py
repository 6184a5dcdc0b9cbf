"""Every attack there is."""

from __future__ import annotations

from tests.attacks import cloud, kills, run_folders
from tests.attacks.base import Attack

ATTACKS: tuple[Attack, ...] = (*run_folders.ATTACKS, *kills.ATTACKS, *cloud.ATTACKS)
