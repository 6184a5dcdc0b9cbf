"""Asks the cloud, before anything is made, whether it can be: token, project, API, permissions, quota, image, machines.

One request for each, and one finding: what the API answered, and what to do about it.
"""

from __future__ import annotations

import http.client
import json
import re
import shutil
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from credentials import PROJECT_VARIABLES, NoCredentialsError, Token, find_token, project_hint, project_variable
from retrying import fetched

_RESOURCE_MANAGER = "https://cloudresourcemanager.googleapis.com/v1/"
_IMAGE, _ARM_IMAGE = "debian-cloud/debian-12", "debian-cloud/debian-12-arm64"  # settings.tf
_REQUEST_S = 30.0
_DISK_GB = 10.0
_SHARE_CPUS = ("f1", "e2")  # machine families without a quota of CPUs of their own

# What the module and provider.py do, and nothing else.
PERMISSIONS = (
    *(
        f"compute.instances.{verb}"
        for verb in ("create", "delete", "get", "list", "setLabels", "setMetadata", "setTags")
    ),
    *(f"compute.disks.{verb}" for verb in ("create", "delete", "get", "list", "setLabels")),
    *(f"compute.networks.{verb}" for verb in ("create", "delete", "get", "list", "updatePolicy")),
    *(f"compute.subnetworks.{verb}" for verb in ("create", "delete", "get", "list", "use")),
    *(f"compute.firewalls.{verb}" for verb in ("create", "delete", "get", "list")),
    "compute.globalOperations.get",
    "compute.regionOperations.get",
    "compute.zoneOperations.get",
    "compute.machineTypes.get",
    "compute.projects.get",
    "compute.regions.get",
    "compute.zones.get",
)
_PUBLIC = ("compute.subnetworks.useExternalIp",)
_IAP = ("iap.tunnelInstances.accessViaIAP",)
_OS_LOGIN = ("compute.instances.osAdminLogin",)
IAP_RANGE = "35.235.240.0/20"  # settings.tf


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One question to the cloud: was the answer good, what was it, what to do about it."""

    name: str
    ok: bool
    what: str
    hint: str = ""


@dataclass(frozen=True)
class Refusal(Exception):
    """The API answered with an error: its status (0: it gave no answer), its words, and its reasons."""

    status: int
    words: str
    reasons: tuple[str, ...] = ()

    @property
    def is_disabled(self) -> bool:
        """Whether the API is switched off in the project."""
        return bool({"SERVICE_DISABLED", "accessNotConfigured"} & set(self.reasons))


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """The APIs, the project, and a token."""

    compute: str
    manager: str
    project: str
    token: Token

    def get(self, path: str) -> dict[str, Any]:
        """One thing of the Compute API; Refusal."""
        return self._ask(self.compute + path)

    def permitted(self, permissions: Sequence[str]) -> set[str]:
        """Which of these the account has in the project; Refusal."""
        answer = self._ask(
            f"{self.manager}projects/{self.project}:testIamPermissions", {"permissions": list(permissions)}
        )
        return set(answer.get("permissions", ()))

    def policy(self, constraint: str) -> dict[str, Any]:
        """Return what the organisation's policy says of a constraint, its parents' included; Refusal."""
        body = {"constraint": f"constraints/{constraint}"}
        return self._ask(f"{self.manager}projects/{self.project}:getEffectiveOrgPolicy", body)

    def _ask(self, url: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        own = self.token.headers() if data is None else self.token.headers_with_quota()
        headers = {**own, "Content-Type": "application/json"}
        request = urllib.request.Request(url, data=data, headers=headers)  # noqa: S310  (https, or a test's own)
        try:
            document: dict[str, Any] = json.loads(fetched(request, timeout_s=_REQUEST_S))
        except urllib.error.HTTPError as error:
            raise _refusal(error) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Refusal(0, f"no answer from {url.split('/')[2]}: {str(error) or type(error).__name__}") from error
        return document


def _refusal(error: urllib.error.HTTPError) -> Refusal:
    try:
        fault = json.load(error)["error"]
        details = [*fault.get("errors", ()), *fault.get("details", ())]
        words = str(fault["message"]) or f"HTTP status {error.code}"
        return Refusal(error.code, words, tuple(str(d["reason"]) for d in details if "reason" in d))
    except (OSError, ValueError, KeyError, TypeError):
        return Refusal(error.code, f"HTTP status {error.code}")


def survey(environment: Mapping[str, str], compute: str, hosts: Sequence[tuple[str, str]]) -> Iterator[Answer]:
    """Every finding for hosts of these zones and machine types, in an order in which the first that fails is the cause."""
    token = _token(environment)
    yield token if isinstance(token, Answer) else Answer(name="token", ok=True, what=f"from {token.source}")
    variable = project_variable(environment)
    if variable is None:
        words = f"no project is named in {', '.join(PROJECT_VARIABLES)}"
        yield Answer(name="project", ok=False, what=words, hint=project_hint(environment))
    if isinstance(token, Answer) or variable is None:
        return
    manager = environment.get("GOOGLE_RESOURCE_MANAGER_CUSTOM_ENDPOINT") or _RESOURCE_MANAGER
    cloud = Cloud(compute=compute, manager=manager.rstrip("/") + "/", project=environment[variable], token=token)
    try:
        project = cloud.get(f"projects/{cloud.project}")
    except Refusal as refusal:
        yield _unanswered(cloud.project, refusal)
        return
    yield Answer(name="project", ok=True, what=f"{cloud.project}, named by {variable}; the Compute Engine API answers")
    is_through_iap = environment.get("ORCH_CONTROLLER_CIDR") == IAP_RANGE
    is_os_login = bool(environment.get("TF_VAR_os_login"))
    yield _permissions(
        cloud, (*PERMISSIONS, *(_IAP if is_through_iap else _PUBLIC), *(_OS_LOGIN if is_os_login else ()))
    )
    if is_through_iap:
        hint = "install the Google Cloud CLI, which opens the tunnels of Identity-Aware Proxy"
        path = shutil.which("gcloud", path=environment.get("PATH", ""))
        yield Answer(name="gcloud", ok=path is not None, what=path or "there is no gcloud on the PATH", hint=hint)
    else:
        hint = f"reach the hosts through Identity-Aware Proxy: export ORCH_CONTROLLER_CIDR={IAP_RANGE}"
        yield _policy(cloud, "compute.vmExternalIpAccess", "public addresses", hint)
    if not is_os_login:
        hint = "export TF_VAR_os_login=you@example.com, the account that is to log in"
        yield _policy(cloud, "compute.requireOsLogin", "logging in without OS Login", hint)
    families = {machine.partition("-")[0] for _, machine in hosts}
    if families - {"t2a"}:
        yield _image(cloud, environment.get("TF_VAR_image") or _IMAGE)
    if "t2a" in families:
        yield _image(cloud, environment.get("TF_VAR_arm_image") or _ARM_IMAGE)
    cpus: dict[str, float] = {}
    for zone, machine in sorted(set(hosts)):
        yield _machine(cloud, zone, machine, cpus)
    yield from _quotas(cloud, project, hosts, cpus, addresses=not is_through_iap)


def _token(environment: Mapping[str, str]) -> Token | Answer:
    try:
        return find_token(environment)
    except NoCredentialsError as error:
        return Answer(name="token", ok=False, what=str(error), hint=error.hint)


def _unanswered(project: str, refusal: Refusal) -> Answer:
    """Why the project does not answer: the token, the API, the account or the name."""
    if refusal.status == 401:
        hint = "sign in again: gcloud auth application-default login, or a fresh GOOGLE_OAUTH_ACCESS_TOKEN"
        return Answer(name="token", ok=False, what=f"the API refuses the token: {refusal.words}", hint=hint)
    if refusal.is_disabled:
        hint = f"gcloud services enable compute.googleapis.com --project {project}"
        what = f"the Compute Engine API is not enabled in {project}: {refusal.words}"
        return Answer(name="API", ok=False, what=what, hint=hint)
    if refusal.status in (403, 404):
        hint = "check the project's id, and that this account has roles/compute.admin in it"
        what = f"{project} is not there, or this account may not see it: {refusal.words}"
        return Answer(name="project", ok=False, what=what, hint=hint)
    return Answer(name="API", ok=False, what=refusal.words, hint="check this machine's network, and try again")


def _permissions(cloud: Cloud, needed: Sequence[str]) -> Answer:
    try:
        lacking = sorted(set(needed) - cloud.permitted(needed))
    except Refusal as refusal:
        hint = f"gcloud services enable cloudresourcemanager.googleapis.com --project {cloud.project}"
        words = f"could not be asked: {refusal.words}"
        return Answer(name="permissions", ok=False, what=words, hint=hint if refusal.is_disabled else "try again")
    if lacking:
        hint = f"gcloud projects add-iam-policy-binding {cloud.project} --role roles/compute.admin --member ..."
        return Answer(name="permissions", ok=False, what=f"this account lacks {', '.join(lacking)}", hint=hint)
    return Answer(name="permissions", ok=True, what=f"all {len(needed)} that making and deleting hosts needs")


def _policy(cloud: Cloud, constraint: str, what: str, hint: str) -> Answer:
    """Whether the organisation allows something; that this account may not read its policies is no obstacle."""
    try:
        policy = cloud.policy(constraint)
    except Refusal as refusal:
        return Answer(name=what, ok=True, what=f"not known, {constraint} could not be read: {refusal.words}")
    is_forbidden = (
        policy.get("booleanPolicy", {}).get("enforced") or policy.get("listPolicy", {}).get("allValues") == "DENY"
    )
    words = f"the organisation forbids it ({constraint})" if is_forbidden else "the organisation allows it"
    return Answer(name=what, ok=not is_forbidden, what=words, hint=hint if is_forbidden else "")


def _image(cloud: Cloud, image: str) -> Answer:
    """`project/name` names the newest image of a family, or one image (settings.tf)."""
    given = re.fullmatch(r"(?:(?:.*/)?projects/)?([^/]+)/(?:global/images/)?(family/)?([^/]+)", image)
    if given is None:
        hint = "export TF_VAR_image=project/family, such as debian-cloud/debian-12"
        return Answer(name="image", ok=False, what=f"{image} is not project/family or project/image", hint=hint)
    project, is_family, name = given.groups()
    paths = [f"family/{name}"] if is_family else [f"family/{name}", name]
    words = ""
    for path in paths:
        try:
            newest = cloud.get(f"projects/{project}/global/images/{path}")
        except Refusal as refusal:
            words = refusal.words
            continue
        return Answer(name="image", ok=True, what=f"{image} is {newest['name']}")
    return Answer(name="image", ok=False, what=f"{image}: {words}", hint="export TF_VAR_image=project/family")


def _machine(cloud: Cloud, zone: str, machine: str, cpus: dict[str, float]) -> Answer:
    name = f"{machine} in {zone}"
    try:
        size = cloud.get(f"projects/{cloud.project}/zones/{zone}/machineTypes/{machine}")
    except Refusal as refusal:
        hint = f"gcloud compute machine-types list --project {cloud.project} --filter name={machine} lists its zones"
        return Answer(name=name, ok=False, what=refusal.words, hint=hint)
    cpus[machine] = float(size.get("guestCpus", 1))
    return Answer(name=name, ok=True, what=f"{size.get('guestCpus')} CPUs, {size.get('memoryMb')} MB")


def _quotas(
    cloud: Cloud,
    project: dict[str, Any],
    hosts: Sequence[tuple[str, str]],
    cpus: Mapping[str, float],
    *,
    addresses: bool,
) -> Iterator[Answer]:
    """What the hosts need of the project's quota, and of each region's."""
    by_region: dict[str, Counter[str]] = {}
    for zone, machine in hosts:
        needs = by_region.setdefault(zone.rpartition("-")[0], Counter())
        family = machine.partition("-")[0]
        own = "CPUS" if family in _SHARE_CPUS else f"{family.upper()}_CPUS"
        needs.update({own: int(cpus.get(machine, 1)), "INSTANCES": 1, "IN_USE_ADDRESSES": int(addresses)})
        needs.update({"DISKS_TOTAL_GB": int(_DISK_GB)})
    everywhere = Counter({"NETWORKS": 1, "FIREWALLS": 2, "SUBNETWORKS": len(by_region)})
    everywhere["CPUS_ALL_REGIONS"] = sum(int(cpus.get(machine, 1)) for _, machine in hosts)
    yield _quota(f"quota of {cloud.project}", everywhere, project)
    for region, needs in sorted(by_region.items()):
        try:
            yield _quota(f"quota in {region}", needs, cloud.get(f"projects/{cloud.project}/regions/{region}"))
        except Refusal as refusal:
            hint = f"gcloud compute regions list --project {cloud.project} shows the regions"
            yield Answer(name=f"quota in {region}", ok=False, what=refusal.words, hint=hint)


def _quota(name: str, needs: Mapping[str, int], place: dict[str, Any]) -> Answer:
    free = {q["metric"]: float(q["limit"]) - float(q["usage"]) for q in place.get("quotas", ())}
    known = {metric: need for metric, need in needs.items() if metric in free and need}
    short = [f"{need} {metric} ({free[metric]:g} are free)" for metric, need in known.items() if need > free[metric]]
    if short:
        hint = "delete what is not needed any more, take another region, or ask for more quota in the console"
        return Answer(name=name, ok=False, what=f"the hosts need {'; '.join(short)}", hint=hint)
    if not known:
        return Answer(name=name, ok=False, what="the API names no quota", hint="look it up in the console")
    enough = ", ".join(f"{need} {metric} (free: {free[metric]:g})" for metric, need in known.items())
    return Answer(name=name, ok=True, what=f"enough for {enough}")
