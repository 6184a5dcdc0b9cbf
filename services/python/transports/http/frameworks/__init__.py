"""Frameworks that route a protocol's paths, each used as its documentation shows; `asgi` uses none."""
