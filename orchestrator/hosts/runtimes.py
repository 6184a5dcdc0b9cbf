"""What hosts must have to run the programs of a language, asked of each host itself."""

from __future__ import annotations

import shlex

from orchestrator.catalogue.offers import Language
from orchestrator.catalogue.tools import judged
from orchestrator.errors import ProvisionError
from orchestrator.hosts.base import Host

_PATIENCE_S = 60.0


def runtimes(language: Language, host: Host) -> dict[str, str]:
    """The versions of what the language needs, by program; ProvisionError where the host has not got it, or an older one."""
    found = {}
    for tool in language.needs:
        try:
            done = host.run(tool.version, timeout_s=_PATIENCE_S)
            looked = judged(tool, done.returncode, f"{done.stdout}\n{done.stderr}")
        except FileNotFoundError:  # a host that is this machine starts it without a shell
            looked = judged(tool, 127, "")
        if looked.why:
            raise ProvisionError(
                f"{host.name} cannot run the programs of {language.title}: {looked.why}"
                f" (asked by `{shlex.join(tool.version)}`)",
                hint=tool.install,
            )
        found[tool.program] = looked.version or ""
    return found
