"""Experiments drafted from what describes a service: an OpenAPI document, a .proto, a collection, a recording, a schema."""
