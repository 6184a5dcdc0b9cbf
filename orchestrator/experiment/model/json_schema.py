"""The JSON Schema of experiment files, generated from the model, for editors."""

from __future__ import annotations

from typing import Any

from orchestrator.catalogue.read import protocols
from orchestrator.experiment.model import SCHEMA_TITLE
from orchestrator.experiment.model.experiment import Experiment

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """The schema that `experiments/schema.json` holds; it names the protocols that are there, but allows others."""
    schema = _without_nulls(Experiment.model_json_schema(by_alias=True))
    examples = ["all", *protocols()]
    schema["$defs"]["StackSpec"]["properties"]["protocol"]["examples"] = examples
    return {
        "$schema": DIALECT,
        "title": SCHEMA_TITLE,
        **{key: value for key, value in schema.items() if key != "title"},
    }


def _without_nulls(schema: Any) -> Any:
    """The schema without null as a type, `default: null` and titles; null stays for empty options (`image:`)."""
    if isinstance(schema, list):
        return [_without_nulls(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    cleaned = {
        key: {name: _without_nulls(sub) for name, sub in value.items()}
        if key in ("properties", "$defs")
        else _without_nulls(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and value is None)
    }
    options = [option for option in cleaned.get("anyOf", ()) if option != {"type": "null"}]
    is_operation = any(str(option.get("$ref", "")).endswith("Options") for option in options)
    if "anyOf" in cleaned and not is_operation and len(options) < len(cleaned["anyOf"]):
        if len(options) > 1:
            cleaned["anyOf"] = options
        else:
            del cleaned["anyOf"]
            cleaned = {**options[0], **cleaned}
    return cleaned
