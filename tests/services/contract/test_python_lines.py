"""The lines of Python's ends are counted by a program, and the file holds what it counts today."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.python.contract import python_lines
from services.python.contract.offers import protocols
from services.python.contract.source_lines import SourceLines
from services.python.contract.strict import decode


def test_the_file_is_what_the_source_has() -> None:
    """`python -m services.python.contract.python_manifest` writes it anew."""
    counted = python_lines.of_python()
    assert python_lines.FILE.read_text(encoding="utf-8") == python_lines.text(counted)
    assert decode(SourceLines, json.loads(python_lines.text(counted))) == counted


def test_every_end_has_its_files_the_module_that_it_begins_with_among_them() -> None:
    counted = python_lines.of_python()
    for name, protocol in protocols().items():
        of = counted.protocols[name]
        for end, files in (
            *((r, of.responders[r.name]) for r in protocol.responders),
            *((c, of.clients[c.name]) for c in protocol.clients),
        ):
            assert {f"{module.replace('.', '/')}.py" for module in end.modules} <= {*files}
            assert all(counted.files[file] > 0 for file in files)


def test_clients_of_one_module_are_told_apart_by_the_library_that_it_loads() -> None:
    clients = python_lines.of_python().protocols["rest"].clients
    assert "services/python/transports/http/pycurl_client.py" in clients["pycurl"]
    assert "services/python/transports/http/pycurl_client.py" not in clients["requests"]
    assert "services/python/transports/http/requests_client.py" in clients["requests"]


PYTHON = '''"""What it is.

At length.
"""

from x import y  # a comment beside code counts with it


# alone it does not
def f(a: str = """a value
over two lines""") -> int:
    """Documentation."""
    return len(
        a
    )
'''


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("a.py", PYTHON, 6),
        ("a.py", '"""Only documentation."""\n', 0),
        ("a.proto", '// comment\nsyntax = "proto3";\n\nmessage A {\n  // what\n  int32 a = 1;\n}\n', 4),
        ("a.avsc", '[\n  {"name": "A"}\n]\n', 3),
    ],
)
def test_blank_lines_comments_and_documentation_are_no_code(
    tmp_path: Path, name: str, content: str, lines: int
) -> None:
    (tmp_path / name).write_text(content)
    assert python_lines.lines_of(tmp_path / name) == lines


def test_files_are_followed_through_imports_but_not_into_the_harness(tmp_path: Path) -> None:
    of = {
        "protocols/a/responder.py": "from services.python.codecs import one\nfrom services.python.serve import x\n",
        "codecs/one.py": "def f():\n    from services.python.transports.http.two import CODE\n",
        "transports/http/two.py": "CODE = 1\n",
        "serve/x.py": "from services.python.codecs import three\n",
        "codecs/three.py": "",
    }
    for name, content in of.items():
        path = tmp_path / "services" / "python" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    assert python_lines.files_of(tmp_path, "services.python.protocols.a.responder") == [
        "services/python/codecs/one.py",
        "services/python/protocols/a/responder.py",
        "services/python/transports/http/two.py",
    ]
