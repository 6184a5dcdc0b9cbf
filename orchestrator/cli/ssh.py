"""Open a shell on a host that is up, or run one command there."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.here import WORKSPACE


def command(
    host: Annotated[str, typer.Argument(help="A host's name, as `orch status` shows it.")],
    words: Annotated[list[str] | None, typer.Argument(help="A command to run instead of a shell.")] = None,
    deployment: Annotated[str | None, typer.Option(help="Which deployment, if several are up.")] = None,
) -> None:
    """Replace this process by ssh, with the deployment's own keys and known hosts."""
    import os
    import shutil

    from orchestrator.errors import MissingError, UsageError, did_you_mean
    from orchestrator.hosts.provision.registry import Registry

    registry = Registry(WORKSPACE.deployments)
    intent = registry.find(deployment)
    if host not in intent.hosts:
        raise UsageError(f"{intent.id} has no host {host}", hint=did_you_mean(host, intent.hosts))
    ssh = shutil.which("ssh")
    if ssh is None:
        raise MissingError("ssh is missing", hint="install the OpenSSH client")
    config = registry.folder_of(intent.id) / "ssh_config"
    if not config.exists():
        raise UsageError(f"{intent.id} is not up yet: its hosts are still being made", hint="see `orch status`")
    batch = [] if words else ["-t"]
    os.execv(ssh, [ssh, "-F", str(config), *batch, host, *(words or [])])  # noqa: S606 - an argv list, no shell
