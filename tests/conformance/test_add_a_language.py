"""`docs/contributing/add-a-language.md`, followed with an implementation of a few lines."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.reference.contract import ROOT

PAGE = (ROOT / "docs" / "contributing" / "add-a-language.md").read_text(encoding="utf-8")

TINY = """
import json, os, signal, socket, struct, sys, threading
serve = json.loads(sys.stdin.readline())
listener = socket.create_server((serve.get("host", "127.0.0.1"), serve.get("port", 0)))
def converse(stream):
    while head := stream.read(5):
        length, code = struct.unpack("!IB", head)
        body = stream.read(length)
        if code == 2:
            body = struct.pack("!q", sum(struct.unpack("!ii", body)))
        elif code == 0:
            body = serve["identity"].encode()
        stream.write(struct.pack("!IB", len(body), code) + body)
        stream.flush()
def accept():
    while True:
        threading.Thread(target=converse, args=(listener.accept()[0].makefile("rwb"),), daemon=True).start()
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda *_: os._exit(0))
threading.Thread(target=accept, daemon=True).start()
print(json.dumps({"type": "ready", "contract": 2, "port": listener.getsockname()[1],
                  "implementation": "yours", "identity": serve["identity"]}), flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.busy
def test_the_page_followed_with_a_tiny_responder(tmp_path: Path):
    program = tmp_path / "respond.py"
    program.write_text(TINY)
    declared = json.loads(re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)[1])
    del declared["request"]  # not written yet
    declared["respond"] = ["{python}", str(program)]
    declaration = tmp_path / "tiny.json"
    declaration.write_text(json.dumps(declared))
    cases = "accepts_connections or identity_it_was_given or status_0 or says_who or implementation_the_first"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/conformance/promises"]
    ran = subprocess.run(
        [*command, "--implementation", str(declaration), "-k", f"({cases}) and not requester and not trials"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ran.returncode == 0, ran.stdout
    assert "7 passed" in ran.stdout, ran.stdout


def test_the_command_of_the_page_is_one_of_the_makefile():
    assert "make conformance IMPLEMENTATION=" in PAGE
    assert "--implementation $(IMPLEMENTATION) $(CONFORMANCE_ARGS)" in (ROOT / "Makefile").read_text(encoding="utf-8")
