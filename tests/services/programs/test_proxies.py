"""Whatever proxies the environment names, a requester speaks with the responder itself."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest

from services.python.contract.lines import Load, Target, Trial
from services.python.contract.offers import protocols
from tests.support import wire
from tests.support.matrix import is_default_client, others_slow

CLIENTS = [
    (protocol.name, protocol.responder().name, client.name)
    for protocol in protocols().values()
    for client in protocol.clients
    if client.kind == "call" and (protocol.name == "rest" or protocol.name in wire.FRAMED)
]


@pytest.mark.busy
@pytest.mark.parametrize(
    ("protocol", "implementation", "client"),
    others_slow(CLIENTS, lambda protocol, _, client: is_default_client(protocol, client)),
)
def test_proxies_of_the_environment_are_not_asked(protocol: str, implementation: str, client: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        nobody = f"http://127.0.0.1:{listener.getsockname()[1]}"
    proxies = dict.fromkeys(("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "ws_proxy"), nobody)
    with wire.responding(protocol, implementation) as running:
        trial = Trial(
            target=Target(host=wire.HOST, port=running.port, identity=wire.NONCE),
            protocol=protocol,
            client=client,
            operation="timestamp",
            record=os.devnull,
            load=Load(requests=0),
            timeout_s=20.0,
        )
        with subprocess.Popen(
            [sys.executable, "-m", "services.python.programs.request"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **proxies},
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(trial.to_json() + "\n")
            process.stdin.flush()
            last = [json.loads(line) for line in process.stdout][-1]
    assert last["type"] == "done", last
