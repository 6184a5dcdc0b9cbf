"""What every request of the web page works with; made once, when the page is started."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field

from fastapi import Request
from fastapi.templating import Jinja2Templates

from orchestrator.clock import SYSTEM, Clock
from orchestrator.web.index import Runs
from orchestrator.web.judged import JudgedRuns
from orchestrator.web.names import Names
from orchestrator.web.work import Work
from orchestrator.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class Context:
    """The folders that are shown, the secret that this process printed, and the templates.

    `token` opens the page where it is not on loopback, and is needed to change anything everywhere: whoever has it was shown
    this process's terminal. A page that may change something carries `form_token`, which cannot be turned back into it.
    `names` are those that the page answers to, `runs` the index of runs, `judged` those
    that were looked at lately, `work` what takes longer than a moment.
    """

    workspace: Workspace
    token: str = field(repr=False)
    templates: Jinja2Templates
    is_loopback: bool = True
    clock: Clock = SYSTEM
    names: Names = field(default_factory=Names)
    runs: Runs
    judged: JudgedRuns
    work: Work = field(default_factory=Work)

    @property
    def form_token(self) -> str:
        """What a changing request of our own pages carries."""
        return self._derived(b"changing requests of orch serve")

    @property
    def session(self) -> str:
        """What a browser keeps that was shown the token."""
        return self._derived(b"sessions of orch serve")

    @property
    def cookie(self) -> str:
        """Under which name it keeps it: cookies of one host are not told apart by port."""
        return f"orch-{self.names.port or 0}"

    def _derived(self, purpose: bytes) -> str:
        return hmac.new(self.token.encode(), purpose, hashlib.sha256).hexdigest()


def context(request: Request) -> Context:
    """That of the application which answers."""
    found: Context = request.app.state.context
    return found
