"""Whose token and which project: as Terraform's provider finds them. google-auth's own code talks to a fake end point."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from fake_compute import FakeCompute

Ask = Callable[..., tuple[int, Any, str]]
WITH_GOOGLE_AUTH: tuple[str, ...] = ()
ACCOUNT = "runner@demo.iam.gserviceaccount.com"


@pytest.fixture
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def key_file(key: rsa.RSAPrivateKey, compute: FakeCompute, tmp_path: Path) -> Path:
    """A service account's key as Google's console hands it out, whose tokens come from the fake."""
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    path = tmp_path / "key.json"
    document = {"type": "service_account", "project_id": "of-the-key", "private_key_id": "1", "private_key": pem}
    document |= {"client_email": ACCOUNT, "token_uri": compute.url.replace("/compute/v1/", "/token")}
    path.write_text(json.dumps(document))
    return path


def test_a_service_accounts_file_gives_the_token(
    ask: Ask, compute: FakeCompute, key: rsa.RSAPrivateKey, key_file: Path
) -> None:
    environment = {"GOOGLE_OAUTH_ACCESS_TOKEN": None, "GOOGLE_APPLICATION_CREDENTIALS": str(key_file)}
    code, answer, words = ask("list", python=WITH_GOOGLE_AUTH, **environment)
    assert (code, answer) == (0, {"runs": {}}), words
    assert compute.tokens == {"Bearer of-the-service-account"}
    (claims,) = compute.assertions
    assert claims["iss"] == ACCOUNT
    assert claims["scope"] == "https://www.googleapis.com/auth/cloud-platform"
    signature = base64.urlsafe_b64decode(claims["signature"] + "==")
    key.public_key().verify(signature, claims["signed"].encode(), padding.PKCS1v15(), hashes.SHA256())


@pytest.mark.parametrize("variable", ["GOOGLE_CREDENTIALS", "GOOGLE_CLOUD_KEYFILE_JSON", "GCLOUD_KEYFILE_JSON"])
@pytest.mark.parametrize("is_inline", [True, False])
def test_terraforms_own_variables_hold_a_path_or_the_key(
    ask: Ask, compute: FakeCompute, key_file: Path, variable: str, is_inline: bool
) -> None:
    value = key_file.read_text() if is_inline else str(key_file)
    code, _, words = ask("list", python=WITH_GOOGLE_AUTH, GOOGLE_OAUTH_ACCESS_TOKEN=None, **{variable: value})
    assert code == 0, words
    assert compute.tokens == {"Bearer of-the-service-account"}


def test_a_token_of_the_environment_goes_before_all_else(ask: Ask, compute: FakeCompute, key_file: Path) -> None:
    ask("list", python=WITH_GOOGLE_AUTH, GOOGLE_APPLICATION_CREDENTIALS=str(key_file))
    assert (compute.tokens, compute.assertions) == ({"Bearer secret"}, [])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there are no credentials that give an access token: File"),
        ("no json", "there are no credentials that give an access token"),
        ('{"type": "service_account"}', "there are no credentials that give an access token"),
    ],
)
def test_a_file_that_gives_none_is_said(ask: Ask, tmp_path: Path, content: str | None, said: str) -> None:
    path = tmp_path / "key.json"
    if content is not None:
        path.write_text(content)
    given = {"GOOGLE_OAUTH_ACCESS_TOKEN": None, "GOOGLE_APPLICATION_CREDENTIALS": str(path)}
    code, answer, words = ask("check", python=WITH_GOOGLE_AUTH, **given)
    assert (code, words) == (3, "")
    assert answer["missing"][0]["what"].startswith(said)


def test_the_project_is_looked_for_where_terraform_does_in_the_same_order(ask: Ask, compute: FakeCompute) -> None:
    names = ["CLOUDSDK_CORE_PROJECT", "GCLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT", "GOOGLE_PROJECT", "TF_VAR_project"]
    given: dict[str, str | None] = {"GOOGLE_PROJECT": ""}  # an empty one counts as none
    for name in names:
        given[name] = name.lower().replace("_", "-")
        compute.requests.clear()
        assert ask("list", **given)[0] == 0
        assert {path.split("/")[1] for _, path in compute.requests} == {given[name]}
