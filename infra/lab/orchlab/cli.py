"""The verbs of the lab's program. Those above the line in `--help` are infra/README.md's; Terraform calls the others."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from orchlab import checking, emulator, host, interrupts, keeper, layout, link, network, sweeping
from orchlab.errors import LabError

_FAILED = 4
_INCOMPLETE = 6
_INTERRUPTED = 130


def _check(_arguments: argparse.Namespace) -> int:
    lacks = checking.missing()
    _print({"ok": not lacks, "missing": lacks})
    return 3 if lacks else 0


def _status(arguments: argparse.Namespace) -> int:
    _print(sweeping.status(arguments.run_id))
    return 0


def _target(_arguments: argparse.Namespace) -> int:
    identity = Path("/etc/machine-id")
    named = identity.read_text().strip()[:8] if identity.is_file() else ""  # the whole is nobody else's to know
    _print({"target": {"machine": named or platform.node()}, "set_by": {}})
    return 0


def _list(_arguments: argparse.Namespace) -> int:
    _print(sweeping.listing())
    return 0


def _sweep(arguments: argparse.Namespace) -> int:
    if bool(arguments.run_id) == arguments.all:
        raise LabError("nothing was named to sweep", hint="give --run-id ID, or --all", exit_code=2)
    receipt = sweeping.sweep_all() if arguments.all else sweeping.sweep(arguments.run_id)
    _print(receipt)
    return _INCOMPLETE if receipt["left"] else 0


def _network_up(arguments: argparse.Namespace) -> int:
    checking.require()
    network.claim(arguments.run_id)
    return 0


def _network_down(arguments: argparse.Namespace) -> int:
    network.release(arguments.run_id)
    return 0


def _host_up(_arguments: argparse.Namespace) -> int:
    interrupts.heed_interrupts()
    host.up(host.spec_from_json(_spec()))
    return 0


def _host_down(arguments: argparse.Namespace) -> int:
    host.down(arguments.run_id, arguments.host)
    return 0


def _link_up(_arguments: argparse.Namespace) -> int:
    interrupts.heed_interrupts()
    link.up(link.spec_from_json(_spec()))
    return 0


def _link_down(arguments: argparse.Namespace) -> int:
    link.down(arguments.run_id)
    return 0


def _keep(arguments: argparse.Namespace) -> int:
    keeper.keep(arguments.run_id, arguments.host)
    return 0


def _ssh(arguments: argparse.Namespace) -> int:
    host.serve_ssh(arguments.run_id, arguments.host)


def _emulate(arguments: argparse.Namespace) -> int:
    record = layout.read_record(layout.link_dir(arguments.run_id) / "ends.json")
    if record is None:
        raise LabError(f"run {arguments.run_id} has no link to emulate")
    emulator.serve(record["ends"])
    return 0


_VERBS: dict[str, tuple[Callable[[argparse.Namespace], int], str, tuple[str, ...]]] = {
    "check": (_check, "can this machine be a lab?", ()),
    "status": (_status, "the health of a deployment", ("run-id",)),
    "target": (_target, "which machine this is", ()),
    "list": (_list, "everything of ours on this machine", ()),
    "sweep": (_sweep, "remove a deployment, or all", ("run-id?", "all")),
    "network-up": (_network_up, "Terraform: claim a /24", ("run-id",)),
    "network-down": (_network_down, "Terraform: give it back", ("run-id",)),
    "host-up": (_host_up, "Terraform: make the host in ORCH_LAB_SPEC", ()),
    "host-down": (_host_down, "Terraform: remove a host", ("run-id", "host")),
    "link-up": (_link_up, "Terraform: make the link in ORCH_LAB_SPEC", ()),
    "link-down": (_link_down, "Terraform: remove the link", ("run-id",)),
    "keep": (_keep, "a host's keeper", ("run-id", "host")),
    "ssh": (_ssh, "ProxyCommand: serve one SSH connection on a host", ("run-id", "host")),
    "emulate": (_emulate, "the user-space link's process", ("run-id",)),
}


def _spec() -> str:
    try:
        return os.environ["ORCH_LAB_SPEC"]
    except KeyError:
        raise LabError("ORCH_LAB_SPEC is not set", hint="Terraform calls this verb, see main.tf", exit_code=2) from None


def _print(document: dict[str, Any]) -> None:
    print(json.dumps(document, indent=2))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="provider.py", description="The lab: hosts out of namespaces.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, (_, summary, options) in _VERBS.items():
        one = verbs.add_parser(verb, help=summary, description=summary)
        for option in options:
            if option == "all":
                one.add_argument("--all", action="store_true", help="every run")
            else:
                one.add_argument(f"--{option.rstrip('?')}", required=not option.endswith("?"), metavar="ID")
    return parser


def main(argv: Sequence[str]) -> int:
    """Run one verb; its exit status, as infra/README.md lists them."""
    arguments = _parser().parse_args(argv)
    try:
        if getattr(arguments, "run_id", None):
            layout.checked_run_id(arguments.run_id)
        return _VERBS[arguments.verb][0](arguments)
    except LabError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
        return error.exit_code
    except OSError as error:  # the kernel's word: a full disk, a limit on namespaces
        print(f"error: {arguments.verb}: {error}", file=sys.stderr)
        return _FAILED
    except KeyboardInterrupt:  # what was half made is removed by now; Terraform says the rest
        return _INTERRUPTED
