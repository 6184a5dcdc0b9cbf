"""Which project, and whose token: what the google provider of Terraform would find, so that both talk of the same.

google-auth looks for Application Default Credentials: a service account's file, a workload identity, the login of
gcloud, the metadata service of a machine in the cloud. Where it is not installed (this file is also run by hand, with
any Python), gcloud is asked in its place.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT_VARIABLES = (
    "TF_VAR_project",
    "GOOGLE_PROJECT",
    "GOOGLE_CLOUD_PROJECT",
    "GCLOUD_PROJECT",
    "CLOUDSDK_CORE_PROJECT",
)
# What the google provider reads before it looks for Application Default Credentials: a path, or the JSON itself.
_KEY_VARIABLES = ("GOOGLE_CREDENTIALS", "GOOGLE_CLOUD_KEYFILE_JSON", "GCLOUD_KEYFILE_JSON")
_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
_SIGN_IN = (
    "gcloud auth application-default login, or export GOOGLE_APPLICATION_CREDENTIALS=/path/of/a/service-account.json,"
    " or GOOGLE_OAUTH_ACCESS_TOKEN=$(gcloud auth print-access-token)"
)


class NoCredentialsError(Exception):
    """Nobody gives a token: why, and what to do."""

    def __init__(self, why: str, hint: str = _SIGN_IN) -> None:
        super().__init__(why)
        self.hint = hint


@dataclass(frozen=True, kw_only=True)
class Token:
    """An access token, where it is from, and the project that its quota is counted in (None: the project asked)."""

    secret: str
    source: str
    quota_project: str | None = None

    def headers(self) -> dict[str, str]:
        """What goes with every request; Terraform's provider names no quota project either."""
        return {"Authorization": f"Bearer {self.secret}"}

    def headers_with_quota(self) -> dict[str, str]:
        """The same for APIs that refuse a user's own credentials without a project for the quota."""
        return self.headers() | ({"X-Goog-User-Project": self.quota_project} if self.quota_project else {})


def project_variable(environment: Mapping[str, str]) -> str | None:
    """The variable that names the project, in the order of Terraform's provider; an empty one counts as none."""
    return next((name for name in PROJECT_VARIABLES if environment.get(name)), None)


def project_hint(environment: Mapping[str, str]) -> str:
    """What to export; with the project of gcloud, which Terraform does not read, or of the credentials."""
    suggested = _gcloud("config", "get-value", "project") or _quota_project_of_file(environment)
    return f"export GOOGLE_PROJECT={suggested or '...'}" + (
        " (gcloud is set to it, or the credentials belong to it; Terraform looks at neither)" if suggested else ""
    )


def find_token(environment: Mapping[str, str]) -> Token:
    """An access token, fresh from its source; NoCredentialsError when there is none."""
    given = environment.get("GOOGLE_OAUTH_ACCESS_TOKEN")
    if given:
        return Token(secret=given, source="GOOGLE_OAUTH_ACCESS_TOKEN")
    if importlib.util.find_spec("google") is None or importlib.util.find_spec("google.auth") is None:
        secret = _gcloud("auth", "application-default", "print-access-token")
        if secret is None:
            raise NoCredentialsError("there are no credentials that give an access token")
        return Token(secret=secret, source="gcloud's application default credentials")
    return _from_google_auth(environment)


def _from_google_auth(environment: Mapping[str, str]) -> Token:
    import google.auth
    import google.auth.exceptions
    import google.auth.impersonated_credentials
    import google.auth.transport.requests

    variable = next((name for name in _KEY_VARIABLES if environment.get(name)), None)
    try:
        if variable is None:
            credentials, _ = google.auth.default(scopes=_SCOPES)
            file = environment.get("GOOGLE_APPLICATION_CREDENTIALS")
            source = (
                f"the file of GOOGLE_APPLICATION_CREDENTIALS, {file}" if file else "application default credentials"
            )
        else:
            credentials, _ = google.auth.load_credentials_from_dict(_key(environment[variable]), scopes=_SCOPES)  # type: ignore[no-untyped-call]
            source = variable
        target = environment.get("GOOGLE_IMPERSONATE_SERVICE_ACCOUNT")
        if target:
            credentials = google.auth.impersonated_credentials.Credentials(credentials, target, _SCOPES)  # type: ignore[no-untyped-call]
            source += f", acting as {target}"
        credentials.refresh(google.auth.transport.requests.Request())  # type: ignore[no-untyped-call]
    except google.auth.exceptions.DefaultCredentialsError as error:
        raise NoCredentialsError(f"there are no credentials that give an access token: {_first_line(error)}") from error
    except (google.auth.exceptions.GoogleAuthError, OSError, ValueError) as error:
        raise NoCredentialsError(f"the credentials give no access token: {_first_line(error)}") from error
    account = getattr(credentials, "service_account_email", None)
    return Token(
        secret=str(credentials.token),
        source=f"{source} ({account})" if account and account != "default" else source,
        quota_project=getattr(credentials, "quota_project_id", None),
    )


def _key(text: str) -> dict[str, Any]:
    """The JSON that a variable holds, or names a file of."""
    raw = text if text.lstrip().startswith("{") else Path(text).expanduser().read_text(encoding="utf-8")
    key = json.loads(raw)
    if not isinstance(key, dict):
        raise ValueError("the credentials are no JSON object")
    return key


def _quota_project_of_file(environment: Mapping[str, str]) -> str | None:
    """The project that a file of credentials names, if there is one that can be read."""
    places = [environment.get("GOOGLE_APPLICATION_CREDENTIALS")]
    configured = environment.get("CLOUDSDK_CONFIG") or (environment.get("HOME", "") + "/.config/gcloud")
    places.append(f"{configured}/application_default_credentials.json")
    for place in filter(None, places):
        try:
            key = _key(place)
        except (OSError, ValueError):
            continue
        named = key.get("project_id") or key.get("quota_project_id")
        if named:
            return str(named)
    return None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]


def _gcloud(*arguments: str) -> str | None:
    if shutil.which("gcloud") is None:
        return None
    try:
        done = subprocess.run(["gcloud", *arguments], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
