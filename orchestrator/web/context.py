"""What every request of the web page works with; made once, when the page is started."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field

from fastapi import Request
from fastapi.templating import Jinja2Templates

from orchestrator.clock import SYSTEM, Clock
from orchestrator.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class Context:
    """The folders that are shown, the secret that this process printed, and the templates.

    `token` opens the page where it is not on loopback, and is needed to change anything everywhere: whoever has it was shown
    this process's terminal. A page that may change something carries `form_token`, which cannot be turned back into it.
    """

    workspace: Workspace
    token: str = field(repr=False)
    templates: Jinja2Templates
    is_loopback: bool = True
    clock: Clock = SYSTEM

    @property
    def form_token(self) -> str:
        """What a changing request of our own pages carries."""
        return hmac.new(self.token.encode(), b"changing requests of orch serve", hashlib.sha256).hexdigest()


def context(request: Request) -> Context:
    """That of the application which answers."""
    found: Context = request.app.state.context
    return found
