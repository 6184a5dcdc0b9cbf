"""FastAPI with routes that take and give raw bodies, without models."""

from __future__ import annotations

from fastapi import FastAPI

from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.frameworks.starlette import endpoint
from services.python.transports.http.paths import Paths


def application(dispatcher: Dispatcher, paths: Paths) -> FastAPI:
    """The FastAPI application: a route for each path."""
    app = FastAPI()
    for name, path in paths.items():
        app.post(name)(endpoint(dispatcher, path))
    return app
