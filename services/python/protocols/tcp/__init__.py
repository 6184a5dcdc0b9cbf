"""`tcp`: length-prefixed binary frames on a bare TCP connection. The floor that every protocol is measured against."""

from __future__ import annotations

from services.python.contract.offers import AS_IT_IS, SECURED, TLS_SETTINGS, Client, Parts, Protocol, Responder

PROTOCOL = Protocol(
    name="tcp",
    title="TCP",
    summary="length-prefixed binary frames on a bare TCP connection: the floor",
    messages=frozenset({"timestamp", "add", "echo", "image", "transfer", "exchange"}),
    responders=(
        Responder(
            name="threads",
            module="services.python.protocols.tcp.responder",
            parts=Parts(codec="packed numbers, JSON for records", transport="TCP", server="threads"),
            settings={"threads": "one per open connection"},
        ),
    ),
    clients=(
        Client(name="socket", module="services.python.protocols.tcp.requester", style="sync"),
        Client(
            name="uvloop", module="services.python.protocols.tcp.async_requester", style="async", packages=("uvloop",)
        ),
    ),
    knobs=SECURED,
    without_knobs={
        **AS_IT_IS,
        "compression": "its frames are the floor, and carry bytes as they are",
        "http": "its frames are on a bare connection, without HTTP",
    },
    sequential="socket",
    concurrent="uvloop",
    round_trips_to_open=1,
    is_floor=True,
    settings={"TCP_NODELAY": "on", **TLS_SETTINGS},
)
