"""The verbs that begin with no experiment: `init` writes one, `examples` lists those that are shipped."""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.shared_options import AsJson
from orchestrator.errors import UsageError, did_you_mean

_DEFAULT = Path("experiments") / "first.yaml"
_SCHEMA = Path("experiments") / "schema.json"
_SCHEMA_LINE = "# yaml-language-server: $schema="


def init(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = _DEFAULT,
    example: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="NAME",
            help="Copy this shipped experiment (`orch examples`), or draft one from a file that describes a service"
            " (OpenAPI, .proto, Postman, HAR, GraphQL), from grpc://HOST:PORT, or from the URL of a request.",
        ),
    ] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of such files instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write an experiment file to change: a commented one, a copy of a shipped one, or a draft for your own services.

    It is valid as it is, and overwrites no file. Its first line names the schema, so that editors complete and check it.
    """
    if schema:
        from orchestrator.experiment.model.experiment import json_schema

        console.document(json_schema())
        return
    console.as_json = as_json
    if file.parts[0].endswith(":"):
        raise UsageError("a URL is what a draft is from, not where it is written", hint="orch init FILE --from URL")
    files, needed = _files(file, example)
    if existing := [path for path in files if path.exists()]:
        raise UsageError(f"{existing[0]} already exists", hint="give another name: orch init FILE")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be written: {error.strerror}") from error
    for path in files:
        console.result(f"wrote {path}")
    if needed:
        console.result(f"its secrets are variables of your environment: {', '.join(needed)}")
    console.result(f"next: change it, then `orch plan {file}`")
    console.emit({"file": str(file), "files": [str(path) for path in files], "secrets": needed})


def _files(file: Path, source: str | None) -> tuple[dict[Path, bytes], list[str]]:
    """The files to write, the experiment first, and the secrets that it names."""
    if source is None:
        return {file: starter(file).encode()}, []
    if not ("://" in source or Path(source).suffix or Path(source).is_file()):
        if "/" in source:
            raise UsageError(f"there is no file {source}", hint="the URL of a request begins with http://")
        return _copy(source, file), []
    from orchestrator.experiment.drafts.formats import drafted

    files, needed = drafted(source, file, _name(file))
    return {**files, file: _with_schema(files[file].decode(), file).encode()}, needed


def starter(file: Path) -> str:
    """The starter experiment, named after its file; its first line names `experiments/schema.json` where it is here."""
    template = Path(__file__).with_name("starter.yaml").read_text(encoding="utf-8")
    schema = schema_from(file)
    if schema is None:
        template = template.split("#\n", 1)[1]
    return template.format(name=_name(file), file=file, schema=schema)


def _copy(example: str, file: Path) -> dict[Path, bytes]:
    """A shipped experiment under the name of its new file; UsageError for an unknown one.

    Documents that it reads (`json: orders.json`) are copied beside it where they are not there.
    """
    from orchestrator.experiment.examples import FOLDER

    known = [path.stem for path in FOLDER.glob("*.yaml")]
    if example not in known:
        raise UsageError(f"there is no shipped experiment {example!r}", hint=did_you_mean(example, known))
    text = (FOLDER / f"{example}.yaml").read_text(encoding="utf-8")
    text = re.sub(r"^name: .*$", f"name: {_name(file)}", text, count=1, flags=re.MULTILINE)
    beside = {file.parent / document: FOLDER / document for document in re.findall(r"\bjson: ([\w-]+\.json)", text)}
    documents = {path: source.read_bytes() for path, source in beside.items() if not path.exists()}
    return {file: _with_schema(text.partition("\n")[2].removeprefix("#\n"), file).encode(), **documents}


def _with_schema(text: str, file: Path) -> str:
    schema = schema_from(file)
    return text if schema is None else f"{_SCHEMA_LINE}{schema}\n#\n{text}"


def _name(file: Path) -> str:
    return re.sub(r"[^a-z0-9_-]+", "_", file.stem.lower()).strip("_-")[:40] or "experiment"


def schema_from(file: Path) -> str | None:
    """The schema of experiments as an experiment there names it for editors; None where it is not here."""
    return os.path.relpath(_SCHEMA, file.parent) if _SCHEMA.is_file() else None


def examples(as_json: AsJson = False) -> None:
    """List the shipped experiments by question, with the minutes that each takes and what it needs.

    `orch run experiments/NAME.yaml` runs one, `orch init --from NAME` copies one to change.
    """
    from orchestrator.cli.tables import table
    from orchestrator.experiment.examples import examples as rows_of

    console.as_json = as_json
    rows = rows_of()
    console.emit({"examples": [asdict(row) for row in rows]})
    heads = ("name", "question", "minutes", "needs")
    console.lines(table(heads, [(row.name, row.question, str(row.minutes), ", ".join(row.needs)) for row in rows]))
    console.result()
    console.result("next: orch run experiments/NAME.yaml, or orch init --from NAME to change one")
