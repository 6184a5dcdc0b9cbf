"""The digest of the code that runs."""

from pathlib import Path

from orchestrator.hosts.provision.wheelhouse import code
from services.python.contract.source import source_digest
from services.python.programs.describe import describe

ROOT = Path(__file__).parents[3]


def a_package(root: Path) -> Path:
    (root / "services" / "__pycache__").mkdir(parents=True)
    (root / "services" / "respond.py").write_text("reply = 1\n")
    return root


def test_an_edit_a_new_name_and_a_new_file_show_and_bytecode_does_not(tmp_path):
    root = a_package(tmp_path)
    first = source_digest(root)
    (root / "services" / "__pycache__" / "respond.pyc").write_bytes(b"compiled")
    assert source_digest(root) == first
    (root / "services" / "respond.py").write_text("reply = 2\n")
    edited = source_digest(root)
    (root / "services" / "more.py").write_text("")
    assert len({first, edited, source_digest(root)}) == 3


def test_a_host_reports_the_code_that_the_bundle_carries(tmp_path):
    digest = describe().services_sha256
    assert digest == source_digest(ROOT)
    assert digest.startswith(code(ROOT, tmp_path).digest)
