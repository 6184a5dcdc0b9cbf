"""Which version of HTTP carries requests and replies: the knob `http`, who speaks which, and what came back.

A client asks for one version and takes no other: of a reply that came over another one nobody could say what was measured.
"""

from __future__ import annotations

from collections.abc import Mapping

from services.python.contract.knobs import CONNECTIONS, HTTP
from services.python.load.client import CallFailed

ONE, TWO = "1.1", "2"
KNOBS: Mapping[str, tuple[str, ...]] = {HTTP: (ONE, TWO), CONNECTIONS: ("each", "1..10000")}
WITHOUT: Mapping[str, str] = {HTTP: "no implementation here speaks HTTP/3 yet"}
"""Why a protocol with these knobs has no other value of them."""
SETTINGS: Mapping[str, str] = {
    "HTTP/2": "asked for from the first byte (prior knowledge), over TLS by ALPN; one request at a time on a connection"
}


def one_alone(library: str, instead: str = "") -> Mapping[str, str]:
    """What an end `refuses` that speaks HTTP/1.1 alone; `instead` names one that does not."""
    other = f"; {instead} speaks both" if instead else ""
    return {f"{HTTP}: {TWO}": f"{library} speaks HTTP/1.1 alone{other}"}


def asked(knobs: Mapping[str, str]) -> str:
    """The version that a trial asks for."""
    return knobs.get(HTTP, ONE)


def another(asked_for: str, came: object) -> CallFailed:
    """The end of a request whose reply came over another version."""
    return CallFailed("protocol", f"the reply came over {came}, and HTTP/{asked_for} was asked for")
