"""The manifest of Python is what its folders declare, and what the schema in `protos/` takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from services.python.contract import python_manifest, schemas
from services.python.contract.manifest import decoded


def written() -> dict[str, Any]:
    return json.loads(python_manifest.FILE.read_text(encoding="utf-8"))


def schema() -> Draft202012Validator:
    path = schemas.PROTOS / "schemas" / "manifest.json"
    return Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))


def test_the_file_is_what_the_folders_declare() -> None:
    """`python -m services.python.contract.python_manifest` writes it anew."""
    assert python_manifest.FILE.read_text(encoding="utf-8") == python_manifest.text(python_manifest.of_python())
    assert decoded(written()) == python_manifest.of_python()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"manifest": 2}, "it is of manifest 2; this reader knows manifest 1"),
        ({"manifest": True}, "it is of manifest true"),
        ({"contract": 1}, "it is of contract 1; this reader knows contract 2"),
        ({"colour": "red"}, "colour is not a key"),
        ({"title": 5}, "title must be text, not 5"),
        ({"roles": {"respond": {"argv": "python"}}}, "roles.respond.argv must be a list"),
    ],
)
def test_another_shape_or_version_is_refused_by_reader_and_schema(change: dict[str, Any], complaint: str) -> None:
    raw = {**written(), **change}
    with pytest.raises(ValueError, match=complaint):
        decoded(raw)
    with pytest.raises(ValidationError):
        schema().validate(raw)
