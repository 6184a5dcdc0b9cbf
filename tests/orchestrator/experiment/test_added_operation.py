"""An operation of the catalogue that takes no options can be asked, without a word about it in the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from orchestrator.catalogue.offers import Operation
from orchestrator.catalogue.read import catalogue
from orchestrator.experiment.model import experiment as model
from orchestrator.experiment.plan import payloads

STOCK = Operation(
    name="stock",
    message="stock",
    request={"item": "integer"},
    reply={"name": "text", "count": "integer", "is_there": "flag"},
)


@pytest.fixture
def spec(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The model of an operation, where the catalogue has four more."""
    here = catalogue()
    more = (
        STOCK,
        replace(STOCK, name="subtract", message="add"),
        replace(STOCK, name="watch", kind="stream"),
        replace(STOCK, name="weigh", payloads=("bytes",)),
    )
    protocols = {name: replace(p, operations=p.operations | {"stock"}) for name, p in here.protocols.items()}
    grown = replace(here, protocols=protocols, operations={**here.operations, **{o.name: o for o in more}})
    monkeypatch.setattr(model, "catalogue", lambda: grown)
    monkeypatch.setattr(payloads, "catalogue", lambda: grown)
    return model._with(model._without_options())(model.OperationSpec)


def test_calls_that_need_no_payload_are_added_and_nothing_else(spec: Any) -> None:
    assert set(spec.model_fields) == set(model.OPERATION_NAMES) | {"stock", "subtract", "mix"}
    asked = spec.model_validate({"stock": {"load": {"requests": 3}}})
    assert (asked.name, asked.options.load.requests) == ("stock", 3)
    for other in ({"watch": {}}, {"exchange": {}}, {"stock": {"bytes": "1kB"}}, {"stock": {}, "add": {}}):
        with pytest.raises(ValidationError):
            spec.model_validate(other)


def test_what_travels_is_estimated_from_the_fields_of_its_message(spec: Any) -> None:
    asked = spec.model_validate({"stock": {}})
    [found] = payloads._payloads(None, 0, asked)  # type: ignore[arg-type]  # nothing of the file is looked at
    operation = found.operation
    assert (operation.id, operation.name, operation.payload) == ("stock", "stock", {"kind": "none"})
    assert (operation.request_bytes, operation.reply_bytes) == (8, 32 + 8 + 1)
