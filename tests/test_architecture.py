"""What docs/architecture.md promises about the code: which part may import which, and how large a module may be."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from orchestrator.experiment.providers import THIS_MACHINE, WITH_MACHINES

ROOT = Path(__file__).parent.parent
MOST_LINES = 600
MOST_MODULES = 15
MOST_LINES_OF_A_FUNCTION = 60
FEWEST_LINES = 39  # of a module that serves one other
NOT_OURS = {
    "generated",
    "build",
    "target",
    "node_modules",
}  # what programs write, also those that build other languages

# A part may import itself, what stands here beside it, and `SHARED`.
OF_A_RUN = {
    "wording",
    "between_runs",
    "questions",
    "checks",
    "evidence",
    "findings",
    "statistics",
    "results",
    "experiment",
}
MAY_IMPORT = {
    "cli": {
        "gate",
        "web",
        "history",
        "referee",
        "measure",
        "exports",
        "report",
        "audit",
        *OF_A_RUN,
        "hosts",
        "catalogue",
    },
    "gate": {"measure", "report", *OF_A_RUN, "hosts", "catalogue"},
    "web": {"history", "measure", "exports", "report", *OF_A_RUN, "hosts", "catalogue"},
    "measure": {"referee", "report", *OF_A_RUN, "hosts", "catalogue"},
    "history": OF_A_RUN,
    "exports": {"report", *OF_A_RUN},
    "report": OF_A_RUN,
    "audit": {"findings", "statistics", "experiment"},
    "wording": {"between_runs", "questions", "findings", "statistics", "results", "experiment"},
    "between_runs": {"questions", "evidence", "findings", "statistics", "results", "experiment"},
    # Of a question, `words.py` alone imports wording.
    "questions": {"wording", "checks", "evidence", "findings", "statistics", "results", "experiment", "catalogue"},
    "checks": {"evidence", "findings", "statistics", "results", "experiment", "catalogue"},
    "evidence": {"findings", "statistics", "results", "experiment", "catalogue"},
    "findings": {"statistics", "results", "experiment"},
    "statistics": set[str](),
    "results": {"experiment"},
    "hosts": {"experiment", "catalogue", "referee"},
    "referee": set[str](),
    "experiment": {"catalogue"},
    "catalogue": set[str](),
}
SHARED = {
    "errors",
    "clock",
    "disk",
    "files",
    "contract_lines",
    "quantities",
    "record_layout",
    "shapes",
    "strict_json",
    "summarise",
    "workspace",
}

LIGHT_SERVICES = {
    "services.python.contract.limits",
    "services.python.contract.counters",
    "services.python.contract.descriptors",
    "services.python.contract.templates",
    "services.python.contract.description",
    "services.python.contract.knobs",
    "services.python.contract.lines",
    "services.python.contract.manifest",
    "services.python.contract.ping_lines",
    "services.python.contract.requester_lines",
    "services.python.contract.responder_lines",
    "services.python.contract.streams",
    "services.python.contract.strict",
    "services.python.load.phases",
    "services.python.contract.source",
    "services.python.contract.source_lines",
    "services.python.operations.picture",
}


def modules(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path.relative_to(ROOT) for path in found if not NOT_OURS.intersection(path.relative_to(ROOT).parts)]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), str(path))


def imports(path: Path, *, at_once: bool = False) -> Iterator[str]:
    """Full names of what a module imports: anywhere in it, or `at_once`, when it is itself imported.

    `from a import b` is `a.b`.
    """
    for node in parsed(path).body if at_once else ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def files_of(name: str) -> Iterator[Path]:
    """The modules of `services` that importing this name runs, its packages included."""
    words = name.split(".")
    for length in range(1, len(words) + 1) if words[0] == "services" else ():
        for path in (Path(*words[:length], "__init__.py"), Path(*words[:length]).with_suffix(".py")):
            if (ROOT / path).exists():
                yield path


def within(package: str, path: Path) -> set[str]:
    """The parts of a package that a module imports, by their second name."""
    return {name.split(".")[1] for name in imports(path) if name.startswith(f"{package}.")}


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_dependencies_point_one_way(part: str) -> None:
    allowed = {part, *MAY_IMPORT[part], *SHARED, "__version__"}
    wrong = {
        str(path): found
        for path in modules(f"orchestrator/{part}")
        if (found := within("orchestrator", path) - allowed)
    }
    assert wrong == {}


def test_only_the_words_of_a_question_import_wording() -> None:
    found = [path for path in modules("orchestrator/questions") if "wording" in within("orchestrator", path)]
    assert found
    assert {path.name for path in found} == {"words.py"}


def test_every_part_has_its_place_in_the_order() -> None:
    folders = {path.parts[1] for path in modules("orchestrator") if len(path.parts) > 2}
    assert folders == MAY_IMPORT.keys()


def module_of(name: str) -> str | None:
    """The module that importing this full name of something loads, if it is one of ours."""
    words = name.split(".")
    for length in (len(words), len(words) - 1) if len(words) > 1 else ():
        path = Path(*words[:length])
        if any((ROOT / file).is_file() for file in (path.with_suffix(".py"), path / "__init__.py")):
            return ".".join(words[:length])
    return None


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """What is left when whatever imports nothing left is taken away, again and again: circles, and what leads to them."""
    left = dict(graph)
    while taken := [name for name, found in left.items() if not found & left.keys()]:
        for name in taken:
            del left[name]
    return [{name, *(found & left.keys())} for name, found in left.items()]


def test_no_modules_import_each_other_in_a_circle_not_even_within_functions() -> None:
    graph = {}
    for path in modules("orchestrator", "services"):
        own = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
        graph[own] = {found for name in imports(path) if (found := module_of(name))} - {own}
    assert len(graph) > 300
    assert circles(graph) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()})


def test_services_know_nothing_of_the_orchestrator() -> None:
    assert [str(path) for path in modules("services") if within("orchestrator", path)] == []


def test_no_end_draws_from_a_generator_that_one_language_has() -> None:
    """Content and schedules come from `protos/payloads.md`."""
    assert [str(path) for path in modules("services") if "random" in {n.split(".")[0] for n in imports(path)}] == []


def test_the_orchestrator_reads_of_services_only_what_is_light() -> None:
    wrong = {
        f"{path}: {name}"
        for path in modules("orchestrator")
        for name in imports(path)
        if name.startswith("services.") and name.rpartition(".")[0] not in LIGHT_SERVICES
    }
    assert wrong == set()


def test_what_is_light_imports_only_the_standard_library() -> None:
    seen, waiting = set[Path](), {path for name in LIGHT_SERVICES for path in files_of(name)}
    while waiting:
        path = waiting.pop()
        seen.add(path)
        names = list(imports(path, at_once=True))
        heavy = [name for name in names if name.split(".")[0] not in sys.stdlib_module_names | {"services"}]
        assert heavy == [], path
        waiting |= {found for name in names for found in files_of(name)} - seen
    assert Path("services/python/operations/__init__.py") in seen


# Where a terminal may be written to: the console, the streams below it, and two that write text of their own alone: amid
# a signal, and on another machine.
WRITERS = {
    "orchestrator/cli/console.py",
    "orchestrator/cli/streams.py",
    "orchestrator/hosts/own/on_host.py",
    "orchestrator/measure/interrupts.py",
}
STREAMS = {"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"}
WRITING = {"print", "typer.echo", "typer.secho", "click.echo", "click.secho", "echo", "secho", "pprint"}


def writes_to_a_terminal(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in STREAMS:
            yield f"{path}:{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            is_by_number = called == "os.write" and isinstance(node.args[0], ast.Constant)
            if called in WRITING or called.startswith("traceback.print_") or is_by_number:
                yield f"{path}:{node.lineno}: {called}"


def test_one_object_writes_to_the_terminal() -> None:
    found = {str(path): list(writes_to_a_terminal(path)) for path in modules("orchestrator")}
    assert {path: writes for path, writes in found.items() if writes and path not in WRITERS} == {}
    assert {path for path, writes in found.items() if writes} == WRITERS, "the list names only modules that do"


def test_one_module_names_the_folders_of_a_workspace_and_the_command_line_alone_makes_one() -> None:
    folders = {"results", "reports", "exports", ".orch", "plans", "deployments", "made"}
    naming, making = [], []
    for path in modules("orchestrator"):
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.Call | ast.BinOp):
                continue
            parts = node.args if isinstance(node, ast.Call) else [node.right]
            is_path = isinstance(node, ast.BinOp) or getattr(node.func, "id", "") in ("Path", "PurePath")
            if is_path and any(isinstance(part, ast.Constant) and part.value in folders for part in parts):
                naming.append(path)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Workspace":
                making.append(path)
    assert set(naming) == {Path("orchestrator/workspace.py")}
    assert set(making) == {
        Path("orchestrator/workspace.py"),
        Path("orchestrator/cli/here.py"),
    }


def _said(path: Path) -> Iterator[ast.Constant]:
    """The strings of a module that are not docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    silent = {
        id(n.body[0].value)
        for n in ast.walk(parsed(path))
        if isinstance(n, documented) and isinstance(n.body[0], ast.Expr)
    }
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node


def test_no_module_names_a_provider() -> None:
    """Its folder declares what it is like (`experiment.providers`); all others ask for the property that they mean.

    `ssh` is the name of a program, too.
    """
    named = re.compile(rf"\b({'|'.join(WITH_MACHINES)})\b")
    found = [
        f"{path}:{n.lineno}: {n.value}"
        for path in modules("orchestrator")
        for n in _said(path)
        if named.search(n.value)
    ]
    assert found == []


def test_no_module_names_a_language() -> None:
    """A manifest says how its programs are started; what deploys the packages of one speaks of that one."""
    folders = "|".join(path.parent.name for path in sorted((ROOT / "services").glob("*/manifest.json")))
    named = re.compile(rf"\bservices[./]({folders})\b|^({folders}|go|golang|rust|node|nodejs)$", re.IGNORECASE)
    found = {
        f"{path}: {n.value}" for path in modules("orchestrator") for n in _said(path) if named.search(str(n.value))
    }
    # The interpreter that orch itself needs, the one in a host's venv, and what a host says of its own.
    own = {
        "orchestrator/evidence/conditions.py: Python",
        "orchestrator/evidence/conditions.py: python",
        "orchestrator/between_runs/environments.py: Python",
        "orchestrator/findings/condition.py: Python",
        "orchestrator/hosts/probes.py: python",
        "orchestrator/hosts/remote/host.py: python",
    }
    assert found == own


def test_the_orchestrator_plans_by_manifests_and_not_by_what_a_language_declares_itself() -> None:
    wrong = {
        f"{path}: {name}"
        for path in modules("orchestrator")
        for name in imports(path)
        if name.startswith(("services.python.contract.offers", "services.python.protocols", "services.python.programs"))
    }
    assert wrong == set()


def test_no_module_asks_whether_a_provider_is_this_machine_by_its_name() -> None:
    """`local` is the name of a placement, too: so what is compared with it decides."""
    found = [
        f"{path}:{node.lineno}"
        for path in modules("orchestrator")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Compare) and "provider" in ast.unparse(node.left).lower()
        for other in node.comparators
        if any(isinstance(part, ast.Constant) and part.value == THIS_MACHINE for part in ast.walk(other))
    ]
    assert found == []


def test_what_is_written_amid_a_signal_is_our_own_text() -> None:
    calls = [n for n in ast.walk(parsed(Path("orchestrator/measure/interrupts.py"))) if isinstance(n, ast.Call)]
    written = [call for call in calls if ast.unparse(call.func) == "os.write"]
    assert written
    assert all(isinstance(call.args[1], ast.Constant) for call in written)


# A folder of these may import those of the sets before its own, and nothing else of the same place.
FLOORS = {
    "services/python": (
        {"contract"},
        {"stores"},
        {"probes", "operations", "generated"},
        {"load"},
        {"codecs", "serve"},
        {"transports"},
        {"protocols"},
        {"trial"},
        {"programs"},
    ),
    "orchestrator/experiment": (
        {"read", "providers"},
        {"model", "machines"},
        {"plan"},
        {"examples", "drafts", "store"},
    ),
    "orchestrator/hosts": (
        {"base", "processes", "pinning"},
        {"busy", "certificates", "lifecycle", "output"},
        {"local", "remote", "load_generators", "chromium"},
        {"own"},
        {"provision"},
        {"probes"},
    ),
}


@pytest.mark.parametrize("place", FLOORS)
def test_folders_stand_on_those_below(place: str) -> None:
    height = {name: floor for floor, names in enumerate(FLOORS[place]) for name in names}
    prefix = place.replace("/", ".")
    wrong = set()
    for path in modules(place):
        mine = path.parts[2].removesuffix(".py")
        for name in imports(path):
            if name.startswith(f"{prefix}.") and mine != "__init__":
                theirs = name.split(".")[2]
                if mine != theirs and height[theirs] >= height[mine]:
                    wrong.add(f"{path}: {name}")
    assert wrong == set()


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(p) for p in modules("orchestrator", "services", "infra", "benchmarks") if not ast.get_docstring(parsed(p))
    ]
    assert silent == []


def importers() -> dict[str, set[Path]]:
    """Which modules import each module of the orchestrator."""
    found: dict[str, set[Path]] = {}
    for path in modules("orchestrator"):
        for name in imports(path):
            if module := module_of(name):
                found.setdefault(module, set()).add(path)
    return found


def test_a_folder_holds_few_modules() -> None:
    folders = Counter(str(path.parent) for path in modules("orchestrator") if path.name != "__init__.py")
    assert {folder: count for folder, count in folders.items() if count > MOST_MODULES} == {}


def test_no_function_is_longer_than_a_screen() -> None:
    long = [
        f"{path}: {node.name}"
        for path in modules("orchestrator", "infra", "benchmarks", "services")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.body[0].lineno >= MOST_LINES_OF_A_FUNCTION
    ]
    assert long == []


def test_no_sliver_serves_one_module_alone() -> None:
    """A short module has several importers, or is registered beside others of its name."""
    by_name = Counter(path.name for path in modules("orchestrator"))
    serves = importers()
    slivers = [
        str(path)
        for path in modules("orchestrator")
        if path.name != "__init__.py"
        and by_name[path.name] == 1
        and len((ROOT / path).read_text(encoding="utf-8").splitlines()) < FEWEST_LINES
        and len(serves.get(".".join(path.with_suffix("").parts), set())) < 2
    ]
    assert slivers == []


# Folders whose modules have the same names because they are the same kind of thing.
PARALLEL = (
    "orchestrator/questions/*/*.py",
    "orchestrator/cli/*.py",
    "orchestrator/cli/*/*.py",
    "orchestrator/hosts/*/host.py",
    "base.py",
    "registry.py",
    "conditions.py",
)


def test_a_file_name_is_used_once() -> None:
    seen: dict[str, list[Path]] = {}
    for path in modules("orchestrator"):
        if path.name != "__init__.py" and not any(path.match(pattern) for pattern in PARALLEL):
            seen.setdefault(path.name, []).append(path)
    assert {name: paths for name, paths in seen.items() if len(paths) > 1} == {}


def test_no_module_is_longer_than_can_be_read_at_once() -> None:
    every = modules("orchestrator", "services", "infra", "benchmarks", "tests")
    lengths = {str(path): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in every}
    assert {path: lines for path, lines in lengths.items() if lines > MOST_LINES} == {}


def test_one_writer_makes_files_that_appear_whole() -> None:
    names = {
        path: node.value
        for path in modules("orchestrator")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith((".partial", ".tmp"))
    }
    assert names == {}
