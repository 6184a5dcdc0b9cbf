"""The programs of a plan's languages as one tar for hosts: the files that were built here, each with its SHA-256.

Sources and toolchains stay on the controller. A host checks every file against the list that came with it.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from orchestrator.catalogue.read import catalogue
from orchestrator.errors import ProvisionError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.topology import needed_languages, require_programs
from orchestrator.hosts.provision.archives import Member, kept, write_tar
from orchestrator.hosts.provision.wheelhouse import Bundle, Target
from services.python.contract.source import digest as digest_of

_DIGITS = 12  # of a digest, in a file's name
_SUMS = "SHA256SUMS"  # as `sha256sum --check` reads it


def programs(plan: Plan, target: Target, cache: Path) -> Bundle | None:
    """What hosts of that kind need of the languages of a plan; None where none of them has files of its own.

    UsageError where something is not built as it should be, ProvisionError where it was built for other hosts.
    """
    built = require_programs(plan)
    files = []
    for language in needed_languages(plan):
        folder = catalogue().folder / language.name
        for name in language.artifacts:
            path = folder / name
            mode = 0o755 if os.access(path, os.X_OK) else 0o644
            file = Member(name=f"{language.name}/{name}", content=_content(path), mode=mode)
            recorded = built[language.name].artifacts[name] if language.name in built else None
            if recorded is not None and recorded.platform not in ("", target.platform):
                raise ProvisionError(
                    f"{path} is a program for {recorded.platform}; the hosts are {target.platform}",
                    hint=f"build it on {target.platform}, or choose another machine type",
                )
            files.append(file)
    if not files:
        return None
    parts = (part for file in files for part in (file.name.encode(), file.content, oct(file.mode).encode()))
    digest = digest_of(parts)[:_DIGITS]
    sums = "".join(f"{hashlib.sha256(file.content).hexdigest()}  {file.name}\n" for file in files)
    members = [Member(name=_SUMS, content=sums.encode()), *files]
    return Bundle(path=kept(cache / f"programs-{digest}.tar", lambda path: write_tar(path, members)), digest=digest)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ProvisionError(
            f"{path} cannot be read: {error.strerror}", hint="`orch services` shows what is built"
        ) from error
