"""JSON answered by FastAPI with a pydantic model for each message; without them it is the framework `fastapi`."""

from __future__ import annotations

from fastapi import FastAPI

from services.python.codecs.json import CODEC
from services.python.operations import forms
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.models import add_object_route


def application(dispatcher: Dispatcher) -> FastAPI:
    """The FastAPI application."""
    app = FastAPI()
    every = forms()
    for path, (operation, form) in CODEC.carried().items():
        add_object_route(app, dispatcher, operation, every[form], path)
    return app
