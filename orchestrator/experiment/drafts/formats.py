"""Which format a description of a service has, by the ending of its name and its content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from orchestrator.errors import UsageError
from orchestrator.experiment.drafts.draft import Draft
from orchestrator.experiment.drafts.draft_file import draft_files
from orchestrator.experiment.drafts.graphql_schema import graphql_draft
from orchestrator.experiment.drafts.grpc_services import proto_draft, reflection_draft
from orchestrator.experiment.drafts.har import har_draft
from orchestrator.experiment.drafts.openapi import openapi_draft
from orchestrator.experiment.drafts.postman import postman_draft
from orchestrator.experiment.drafts.written_requests import url_draft
from orchestrator.files import UnreadableFile, read_file

KNOWN = "OpenAPI or Swagger, .proto, Postman collection, HAR, GraphQL schema (.graphql, JSON), grpc://HOST:PORT, a URL"
_MOST_BYTES = 256 * 2**20
_GRAPHQL = (".graphql", ".graphqls", ".gql")


def drafted(source: str, file: Path, name: str) -> tuple[dict[Path, bytes], list[str]]:
    """Return the files of an experiment drafted from a description, and the secrets it needs; UsageError for no such."""
    try:
        if source.startswith("grpc://"):
            draft = reflection_draft(source, file)
        else:
            draft = url_draft(source) if source.startswith(("http://", "https://")) else _read(Path(source), file)
        if not draft.calls:
            raise ValueError("it has no call to repeat")
    except (UnreadableFile, OSError) as error:
        reason = f"{source} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise UsageError(reason, hint=f"formats: {KNOWN}") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, yaml.YAMLError) as error:
        is_odd = isinstance(error, TypeError | AttributeError | RecursionError)
        words = "a value has another type than its format says" if is_odd else " ".join(str(error).split())[:300]
        words += " is missing" if isinstance(error, LookupError) else ""
        reason = f"{source} describes no calls that orch can draft: {words}"
        raise UsageError(reason, hint=f"formats: {KNOWN}") from error
    place = urlsplit(source).netloc.rpartition("@")[2] if "://" in source else Path(source).name
    return draft_files(draft, place, file, name)


def _read(path: Path, file: Path) -> Draft:
    if path.suffix == ".proto":
        return proto_draft(path, file)
    text = read_file(path, _MOST_BYTES).decode("utf-8-sig")
    if path.suffix in _GRAPHQL:
        return graphql_draft(text, path.stem)
    if text.lstrip().startswith("{"):
        return _of_document(json.loads(text), path.stem)
    document = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    return _of_document(json.loads(json.dumps(document, default=str)), path.stem)  # dates and statuses as texts


def _of_document(document: Any, title: str) -> Draft:
    if not isinstance(document, dict):
        raise ValueError("its format is unknown")
    if "openapi" in document or "swagger" in document:
        return openapi_draft(document, title)
    if "log" in document:
        return har_draft(document, title)
    if "info" in document and "item" in document:
        return postman_draft(document, title)
    introspected = document.get("data", document)
    if "__schema" in introspected:
        return graphql_draft(introspected, title)
    raise ValueError("its format is unknown")
