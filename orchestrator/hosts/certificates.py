"""Certificates for one session of a run: an authority of its own, and a key for each host that answers over TLS.

They are made when hosts are there. Keys lie in a folder of `.orch` that nobody else may read, which goes with the session,
and in the workspaces of hosts, which go with these; the authority's own key is on no disk. A resumed session makes others.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.disk import writing
from orchestrator.experiment.plan.plan import Plan
from orchestrator.hosts.base import Host
from services.python.contract.lines import Authority
from services.python.contract.responder_lines import Tls

_OF_THE_OWNER_ALONE = 0o600


@dataclass(frozen=True, kw_only=True)
class Certificates:
    """What ends need for TLS, by the name of their host."""

    serving: Mapping[str, Tls] = field(default_factory=dict)
    trusted: Mapping[str, Authority] = field(default_factory=dict)


def are_needed(plan: Plan) -> bool:
    """Whether a cell's connections are TLS."""
    return any(cell.is_secured for cell in plan.cells)


def make_certificates(folder: Path, responders: Iterable[Host], requesters: Iterable[Host]) -> Certificates:
    """An authority, and for each responder's host a certificate for its address; put where the ends are.

    `folder` is made, and may not be there yet. MissingError when the disk is full, or where the folder around it is a link:
    keys would lie where somebody else chose. ProvisionError and HostLost as `Host.put`.
    """
    from trustme import CA

    authority = CA()
    shutil.rmtree(folder, ignore_errors=True)
    with writing(folder, "`orch run --resume`"):
        folder.mkdir(mode=0o700, parents=True)
    known = authority.cert_pem.bytes()
    digest = hashlib.sha256(known).hexdigest()
    vouching = _written(folder / "tls-authority.pem", known)
    serving: dict[str, Tls] = {}
    for host in responders:
        if host.name not in serving:
            leaf = authority.issue_cert(host.address)
            chain = b"".join(blob.bytes() for blob in leaf.cert_chain_pems)
            names = f"tls-{host.name}.pem", f"tls-{host.name}.key"
            content = chain, leaf.private_key_pem.bytes()
            put = [host.put(_written(folder / n, c), n) for n, c in zip(names, content, strict=True)]
            serving[host.name] = Tls(certificate=str(put[0]), key=str(put[1]))
    trusted = {h.name: Authority(path=str(h.put(vouching, vouching.name)), sha256=digest) for h in requesters}
    return Certificates(serving=serving, trusted=trusted)


def _written(path: Path, content: bytes) -> Path:
    """A new file that its owner alone may read and write, from its first byte on."""
    with writing(path, "`orch run --resume`"):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OF_THE_OWNER_ALONE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    return path
