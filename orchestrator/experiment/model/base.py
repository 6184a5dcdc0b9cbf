"""What all models of an experiment file share: their strictness, and the kinds of names they have."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.experiment.model.host_rules import ZONE_PATTERN

NAME_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,39}$"

Name = Annotated[str, Field(pattern=NAME_PATTERN)]
Short = Annotated[str, Field(min_length=1, max_length=200)]
Zone = Annotated[str, Field(pattern=ZONE_PATTERN, max_length=63)]


class Strict(BaseModel):
    """Nothing unknown, nothing converted, nothing changed afterwards."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
