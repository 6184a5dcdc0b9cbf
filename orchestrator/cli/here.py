"""The workspace of this call: the current folder. The only place that makes one; verbs pass it on."""

from __future__ import annotations

from orchestrator.workspace import Workspace

WORKSPACE = Workspace()
