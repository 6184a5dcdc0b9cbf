"""Which version of HTTP carries requests and replies: the knob `http`, who speaks which, and what came back.

A client asks for one version and takes no other: of a reply that came over another one nobody could say what was measured.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from services.python.contract import knobs
from services.python.load.client import CallFailed

ONE, TWO, THREE = "1.1", knobs.HTTP_2, knobs.HTTP_3
KNOBS: Mapping[str, tuple[str, ...]] = {
    knobs.HTTP: (ONE, TWO),
    knobs.FLOW_WINDOW: ("library", "65535..2147483647"),
    knobs.CONNECTIONS: ("each", "1..10000"),
    knobs.FETCH: knobs.FETCHES,
    knobs.FIELDS: (knobs.ALL_FIELDS, knobs.SHOWN),
}
WITHOUT: Mapping[str, str] = {knobs.HTTP: "no end of it in Python speaks HTTP/3"}
"""Why a protocol with these knobs has no other value of them."""
SETTINGS: Mapping[str, str] = {
    "HTTP/2": "asked for from the first byte (prior knowledge), over TLS by ALPN; one request at a time on a connection",
    f"{knobs.FLOW_WINDOW}: SIZE": "of requests alone, set by the responder, for each stream and for the connection",
}


def one_alone(library: str, instead: str = "") -> Mapping[str, str]:
    """What an end `refuses` that speaks HTTP/1.1 alone; `instead` names one that does not."""
    other = f"; {instead} speaks both" if instead else ""
    return {f"{knobs.HTTP}: {TWO}": f"{library} speaks HTTP/1.1 alone{other}"}


def own_window(library: str) -> Mapping[str, str]:
    """What a client `refuses` whose library cannot be told how large a window it gives to replies."""
    return {knobs.REPLIES: f"{library} cannot be told how large a window it gives to replies"}


def settings(refuses: Container[str]) -> Mapping[str, str]:
    """What a client that refuses these things says of HTTP/2; nothing where it does not speak it."""
    return {} if f"{knobs.HTTP}: {TWO}" in refuses else SETTINGS


def asked(wanted: Mapping[str, str]) -> str:
    """The version that a trial asks for."""
    return wanted.get(knobs.HTTP, ONE)


def another(asked_for: str, came: object) -> CallFailed:
    """The end of a request whose reply came over another version."""
    return CallFailed("protocol", f"the reply came over {came}, and HTTP/{asked_for} was asked for")
