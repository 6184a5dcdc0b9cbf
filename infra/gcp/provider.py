"""The program of provider gcp: `python3 provider.py VERB`; see infra/README.md.

Python's standard library is enough; with google-auth it finds every kind of credentials that Google has.

It asks the Compute API itself, by name and label, so that it answers also where Terraform's state is lost.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from credentials import NoCredentialsError, Token, find_token, project_hint, project_variable
from retrying import fetched
from survey import survey

_GOOGLE = "https://compute.googleapis.com/compute/v1/"
_OURS = re.compile(r"orch-(?P<run>[a-z0-9]{1,20})(?:-(?P<rest>[a-z0-9-]+))?")
_REQUEST_S = 180.0  # an operation's `wait` answers after two minutes at the latest
_WAITS = 5
_INCOMPLETE = 6
# What a run consists of, in the order in which it can be deleted: collection, and whether it is asked for everywhere.
_KINDS = (("instances", "zones"), ("firewalls", "global"), ("subnetworks", "regions"), ("networks", "global"))


class GcpError(Exception):
    """Shown as `error: message` and `hint: ...`; the program then ends with `exit_code`."""

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int = 4) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code


@dataclass(frozen=True, kw_only=True)
class Api:
    """The Compute API of one project."""

    endpoint: str
    project: str
    token: Token

    def call(self, method: str, path: str, **query: str) -> dict[str, Any]:
        """One request below the project; its JSON. GcpError says what the API said; `{}` for what is not there."""
        url = urllib.parse.urljoin(self.endpoint, f"projects/{self.project}/{path}")
        if query:
            url += "?" + urllib.parse.urlencode(query)
        request = urllib.request.Request(url, method=method, headers=self.token.headers())  # noqa: S310
        try:
            document: dict[str, Any] = json.loads(fetched(request, timeout_s=_REQUEST_S))
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return {}
            raise GcpError(f"{method} {path}: {_words(error)}", hint=_hint(error.code)) from error
        except (OSError, http.client.HTTPException) as error:
            raise GcpError(f"cannot reach {self.endpoint}: {error}", hint="check this machine's network") from error
        return document

    def items(self, kind: str, where: str) -> Iterator[dict[str, Any]]:
        """Everything of ours of one kind, in every zone or region, page by page."""
        path = f"global/{kind}" if where == "global" else f"aggregated/{kind}"
        page: str | None = ""
        while page is not None:
            answer = self.call("GET", path, filter="name eq orch-.*", **({"pageToken": page} if page else {}))
            groups = [answer] if where == "global" else list(answer.get("items", {}).values())
            for group in groups:
                for item in group.get("items" if where == "global" else kind, []):
                    if _OURS.fullmatch(item["name"]):
                        yield item
            page = answer.get("nextPageToken")

    def delete(self, kind: str, item: Mapping[str, Any]) -> None:
        """Delete one thing and wait until it is gone. GcpError when the API refuses, or is not done in ten minutes."""
        place = _place(item)
        operation = self.call("DELETE", f"{place}/{kind}/{item['name']}")
        for _ in range(_WAITS):
            if not operation or operation.get("status") == "DONE":
                break
            operation = self.call("POST", f"{place}/operations/{operation['name']}/wait")
        else:
            raise GcpError(f"{kind}/{item['name']} is still being deleted", hint="sweep again in some minutes")
        errors = (operation or {}).get("error", {}).get("errors", [])
        if errors:
            raise GcpError("; ".join(error.get("message", error.get("code", "unknown")) for error in errors))


def _place(item: Mapping[str, Any]) -> str:
    """Where a thing is, as the API's paths say it."""
    for key, word in (("zone", "zones"), ("region", "regions")):
        if key in item:
            return f"{word}/{str(item[key]).rpartition('/')[2]}"
    return "global"


def _words(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP status {error.code}"


def _hint(status: int) -> str | None:
    return {
        401: "sign in again: gcloud auth login, or a fresh GOOGLE_OAUTH_ACCESS_TOKEN",
        403: "the account needs roles/compute.admin in the project, and the Compute Engine API must be switched on",
    }.get(status)


def project(environment: Mapping[str, str]) -> str | None:
    """The project as Terraform's provider finds it; None when nobody says."""
    variable = project_variable(environment)
    return None if variable is None else environment[variable]


def endpoint(environment: Mapping[str, str]) -> str:
    """The address of the Compute API: Google's, unless a test names another."""
    return (environment.get("TF_VAR_compute_endpoint") or _GOOGLE).rstrip("/") + "/"


def missing(environment: Mapping[str, str]) -> list[dict[str, str]]:
    """What this machine lacks to talk to the project; empty when nothing."""
    lacks = []
    if project(environment) is None:
        lacks.append({"what": "no project is named", "hint": project_hint(environment)})
    try:
        find_token(environment)
    except NoCredentialsError as error:
        lacks.append({"what": str(error), "hint": error.hint})
    return lacks


def check(environment: Mapping[str, str], hosts: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """What is missing; for hosts of these zones and machine types also what the cloud says of them."""
    if not hosts:
        lacks = missing(environment)
        return {"ok": not lacks, "missing": lacks}
    findings = list(survey(environment, endpoint(environment), hosts))
    lacks = [{"what": f"{f.name}: {f.what}", "hint": f.hint} for f in findings if not f.ok]
    return {"ok": not lacks, "missing": lacks, "findings": [asdict(finding) for finding in findings]}


def connect(environment: Mapping[str, str]) -> Api:
    """The API as the environment says. GcpError names what is missing."""
    named = project(environment)
    try:
        token = find_token(environment)
    except NoCredentialsError as error:
        raise GcpError(str(error), hint=error.hint, exit_code=3) from error
    if named is None:
        raise GcpError("no project is named", hint=project_hint(environment), exit_code=3)
    return Api(endpoint=endpoint(environment), project=named, token=token)


def expiry(instance: Mapping[str, Any]) -> int | None:
    """When the cloud deletes an instance, in Unix seconds; None when it does not."""
    seconds = instance.get("scheduling", {}).get("maxRunDuration", {}).get("seconds")
    started = instance.get("lastStartTimestamp") or instance.get("creationTimestamp")
    if seconds is None or started is None:
        return None
    return round(datetime.fromisoformat(started.replace("Z", "+00:00")).timestamp()) + int(seconds)


def status(api: Api, run_id: str) -> dict[str, Any]:
    """The health of a deployment. The network is Google's, so its link is alive."""
    hosts = {}
    for instance in api.items("instances", "zones"):
        match = _OURS.fullmatch(instance["name"])
        if match and match["run"] == run_id and match["rest"]:
            alive = instance["status"] == "RUNNING"
            why = None if alive else f"Compute Engine says {instance['status']}"
            hosts[match["rest"]] = {"alive": alive, "why": why, "expires_at": expiry(instance)}
    # What the cloud has deleted, `terraform plan` sees by itself; what it merely stopped must be replaced.
    replace = [f'google_compute_instance.host["{name}"]' for name, host in hosts.items() if not host["alive"]]
    link = {"kind": "network", "alive": True, "why": None}
    return {"run_id": run_id, "hosts": hosts, "link": link, "replace": replace}


def listing(api: Api) -> dict[str, Any]:
    """Everything of ours in the project, by run."""
    runs: dict[str, dict[str, Any]] = {}
    for kind, where in _KINDS:
        for item in api.items(kind, where):
            match = _OURS.fullmatch(item["name"])
            if match is None:
                continue
            run = runs.setdefault(match["run"], {"hosts": [], "expires_at": None})
            if kind == "instances":
                run["hosts"].append(match["rest"])
                run["expires_at"] = max(filter(None, [run["expires_at"], expiry(item)]), default=None)
    return {"runs": runs}


def sweep(api: Api, run_id: str | None) -> dict[str, Any]:
    """Delete all of a run, or of every run; what was removed, and what is left and why."""
    removed, left = [], []
    for kind, where in _KINDS:
        for item in list(api.items(kind, where)):
            match = _OURS.fullmatch(item["name"])
            if match is None or (run_id is not None and match["run"] != run_id):
                continue
            what = f"{kind}/{item['name']}"
            try:
                api.delete(kind, item)
                removed.append(what)
            except GcpError as error:
                left.append({"what": what, "why": error.message})
    return {"removed": removed, "left": left}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="provider.py", description="Hosts on Google Cloud.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    asking = verbs.add_parser("check", help="can this machine use the provider?")
    asking.add_argument("--host", action="append", default=[], metavar="ZONE:MACHINE", type=_host)
    verbs.add_parser("status", help="the health of a deployment").add_argument("--run-id", required=True)
    verbs.add_parser("list", help="everything of ours in the project")
    broom = verbs.add_parser("sweep", help="delete a deployment, or all, by name").add_mutually_exclusive_group(
        required=True
    )
    broom.add_argument("--run-id")
    broom.add_argument("--all", action="store_true")
    return parser


def _host(text: str) -> tuple[str, str]:
    zone, colon, machine = text.partition(":")
    if not (zone and colon and machine):
        raise argparse.ArgumentTypeError(f"{text!r} is not ZONE:MACHINE, such as us-central1-a:e2-micro")
    return zone, machine


def main(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run one verb; its exit status, as infra/README.md lists them."""
    arguments = _parser().parse_args(argv)
    code = 0
    try:
        if arguments.verb == "check":
            document = check(environment, arguments.host)
            code = 0 if document["ok"] else 3
        elif arguments.verb == "status":
            document = status(connect(environment), arguments.run_id)
        elif arguments.verb == "list":
            document = listing(connect(environment))
        else:
            document = sweep(connect(environment), arguments.run_id)
            code = _INCOMPLETE if document["left"] else 0
    except GcpError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(document, indent=2))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
