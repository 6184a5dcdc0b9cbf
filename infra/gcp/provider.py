"""The program of provider gcp: `python3 provider.py VERB`; see infra/README.md.

Python's standard library is enough; with google-auth it finds every kind of credentials that Google has.

It asks the Compute API itself, so that it answers also where Terraform's state is lost. What is ours says `ownership`;
how it is removed, and what a receipt may say of it, `sweeping`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from credentials import NoCredentialsError, Token, find_token, project_hint, project_variable
from errors import GcpError, NotThere, Unreachable
from ownership import Owned
from retrying import fetched
from survey import survey
from sweeping import Listing, all_of_ours, sweep

_GOOGLE = "https://compute.googleapis.com/compute/v1/"
_REQUEST_S = 180.0  # an operation's `wait` answers after two minutes at the latest
_WAITS = 5
_INCOMPLETE = 6
_GLOBAL = ("firewalls", "networks")
_HAS_TIMER = ("PROVISIONING", "STAGING", "RUNNING", "REPAIRING")
_NO_RESULTS = "NO_RESULTS_ON_PAGE"  # the warning of every zone and region in which there is nothing


@dataclass(frozen=True, kw_only=True)
class Api:
    """The Compute API of one project."""

    endpoint: str
    project: str
    token: Token

    def call(self, method: str, path: str, **query: str) -> dict[str, Any]:
        """One request below the project; its JSON. GcpError says what the API said, NotThere that it knows no such thing."""
        url = urllib.parse.urljoin(self.endpoint, f"projects/{self.project}/{path}")
        if query:
            url += "?" + urllib.parse.urlencode(query)
        request = urllib.request.Request(url, method=method, headers=self.token.headers())  # noqa: S310
        try:
            document = json.loads(fetched(request, timeout_s=_REQUEST_S))
        except urllib.error.HTTPError as error:
            kind = NotThere if error.code == 404 else GcpError
            raise kind(f"{method} {path}: {_words(error)}", hint=_hint(error.code, self.project)) from error
        except (OSError, http.client.HTTPException) as error:
            why = str(error) or type(error).__name__
            raise Unreachable(f"cannot reach {self.endpoint}: {why}", hint="check this machine's network") from error
        except ValueError as error:
            raise Unreachable(f"{method} {path}: the answer is not JSON: {error}") from error
        if not isinstance(document, dict):
            raise Unreachable(f"{method} {path}: the answer is no JSON object")
        return document

    def items(self, kind: str) -> Listing:
        """Everything of one kind whose name may be ours, in every zone or region, page by page.

        GcpError when it cannot be asked: a project that is not there or not visible is no empty project.
        """
        path = f"global/{kind}" if kind in _GLOBAL else f"aggregated/{kind}"
        things: list[dict[str, Any]] = []
        unseen: list[str] = []
        page: str | None = ""
        while page is not None:
            try:
                answer = self.call("GET", path, filter="name eq orch-.*", **({"pageToken": page} if page else {}))
            except NotThere as error:
                hint = "name the project that the hosts were made in, and an account that may see it"
                text = f"project {self.project} is not there, or not visible to this account: {error.message}"
                raise GcpError(text, hint=hint) from error
            groups = {"global": answer} if kind in _GLOBAL else answer.get("items", {})
            for scope, group in groups.items():
                things += group.get("items" if kind in _GLOBAL else kind, [])
                warning = group.get("warning") or {}
                if warning.get("code", _NO_RESULTS) != _NO_RESULTS:
                    unseen.append(f"{kind} in {scope}: {warning.get('message') or warning['code']}")
            unseen += [f"{kind} in {scope}: it was not reached" for scope in answer.get("unreachables", [])]
            page = answer.get("nextPageToken")
        return Listing(items=tuple(things), unseen=tuple(dict.fromkeys(unseen)))

    def delete(self, thing: Owned) -> None:
        """Delete one thing and wait until that is done. GcpError when the API refuses, or needs more than ten minutes.

        What the API does not know any more counts as deleted; whether it is gone, a list must say.
        """
        try:
            operation = self.call("DELETE", thing.path)
            for _ in range(_WAITS):
                if operation.get("status") == "DONE" or "name" not in operation:
                    break
                operation = self.call("POST", f"{thing.place}/operations/{operation['name']}/wait")
            else:
                raise GcpError(f"{thing.name} is still being deleted", hint="sweep again in some minutes")
        except NotThere:
            return
        errors = operation.get("error", {}).get("errors", [])
        if errors:
            raise GcpError(
                "; ".join(error.get("message") or error.get("code") or "no reason given" for error in errors)
            )


def _words(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["error"]["message"]) or f"HTTP status {error.code}"
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return f"HTTP status {error.code}"


def _hint(status: int, project: str) -> str | None:
    return {
        401: "sign in again: gcloud auth login, or a fresh GOOGLE_OAUTH_ACCESS_TOKEN",
        403: f"the account needs roles/compute.admin in {project}, and the Compute Engine API must be enabled there",
    }.get(status)


def project(environment: Mapping[str, str]) -> str | None:
    """The project as Terraform's provider finds it; None when nobody says."""
    variable = project_variable(environment)
    return None if variable is None else environment[variable]


def target(environment: Mapping[str, str]) -> dict[str, Any]:
    """Where hosts are made and looked for with this environment, and what to set for another place. Asks no API."""
    set_by = {"project": project_variable(environment) or "GOOGLE_PROJECT", "endpoint": "TF_VAR_compute_endpoint"}
    return {"target": {"project": project(environment), "endpoint": endpoint(environment)}, "set_by": set_by}


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
    """When the cloud deletes an instance, in Unix seconds; None when it does not: a stopped one has no timer."""
    seconds = instance.get("scheduling", {}).get("maxRunDuration", {}).get("seconds")
    started = instance.get("lastStartTimestamp") or instance.get("creationTimestamp")
    if seconds is None or started is None or instance.get("status") not in _HAS_TIMER:
        return None
    return round(datetime.fromisoformat(started.replace("Z", "+00:00")).timestamp()) + int(seconds)


def status(api: Api, run_id: str) -> dict[str, Any]:
    """The health of a deployment. The network is Google's, so its link is alive."""
    hosts = {}
    for thing in all_of_ours(api):
        if thing.kind == "instances" and thing.run == run_id:
            state = thing.item["status"]
            why = None if state == "RUNNING" else f"Compute Engine says {state}"
            if state not in _HAS_TIMER:
                why = f"{why}; while it is stopped, nothing deletes it by itself"
            hosts[thing.host] = {"alive": why is None, "why": why, "expires_at": expiry(thing.item)}
    # What the cloud has deleted, `terraform plan` sees by itself; what it merely stopped must be replaced.
    replace = [f'google_compute_instance.host["{name}"]' for name, host in hosts.items() if not host["alive"]]
    link = {"kind": "network", "alive": True, "why": None}
    return {"run_id": run_id, "hosts": hosts, "link": link, "replace": replace}


def listing(api: Api) -> dict[str, Any]:
    """Everything of ours in the project, by run."""
    runs: dict[str, dict[str, Any]] = {}
    for thing in all_of_ours(api):
        run = runs.setdefault(thing.run, {"hosts": [], "expires_at": None})
        if thing.kind == "instances":
            run["hosts"].append(thing.host)
            run["expires_at"] = max(filter(None, [run["expires_at"], expiry(thing.item)]), default=None)
    return {"runs": runs}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="provider.py", description="Hosts on Google Cloud.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    asking = verbs.add_parser("check", help="can this machine use the provider?")
    asking.add_argument("--host", action="append", default=[], metavar="ZONE:MACHINE", type=_host)
    verbs.add_parser("status", help="the health of a deployment").add_argument("--run-id", required=True)
    verbs.add_parser("target", help="which project the environment names")
    verbs.add_parser("list", help="everything of ours in the project")
    what = verbs.add_parser("sweep", help="delete a deployment, or all").add_mutually_exclusive_group(required=True)
    what.add_argument("--run-id")
    what.add_argument("--all", action="store_true")
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
        elif arguments.verb == "target":
            document = target(environment)
        else:
            document = sweep(connect(environment), arguments.run_id)
            code = _INCOMPLETE if document["left"] or document["unknown"] else 0
    except GcpError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(document, indent=2))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
