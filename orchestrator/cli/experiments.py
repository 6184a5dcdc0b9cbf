"""The verbs that need an experiment file and start nothing: `init`, `validate`, `schema` and `plan`."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.shared_options import AsJson, Experiment, Overrides, complete_experiments
from orchestrator.errors import OrchError, UsageError

_DEFAULT = Path("experiments") / "first.yaml"
_SCHEMA = Path("experiments") / "schema.json"


def init(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = _DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Start an experiment: write a commented YAML file to change. It is valid as it stands, and overwrites none."""
    console.as_json = as_json
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(starter(file))
    except FileExistsError as error:
        raise UsageError(f"{file} already exists", hint="give another name: orch init FILE") from error
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error
    console.result(f"wrote {file}")
    console.result(f"next: change it, then `orch plan {file}`")
    console.emit({"file": str(file)})


def starter(file: Path) -> str:
    """The starter experiment, named after its file; its first line names `experiments/schema.json` where it is here."""
    name = re.sub(r"[^a-z0-9_-]+", "_", file.stem.lower()).strip("_-")[:40] or "experiment"
    template = Path(__file__).with_name("starter.yaml").read_text(encoding="utf-8")
    schema = schema_from(file)
    if schema is None:
        template = template.split("#\n", 1)[1]
    return template.format(name=name, file=file, schema=schema)


def schema_from(file: Path) -> str | None:
    """The schema of experiments as an experiment there names it for editors; None where it is not here."""
    return os.path.relpath(_SCHEMA, file.parent) if _SCHEMA.is_file() else None


def validate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Experiments, YAML files.",
            show_default=False,
            autocompletion=complete_experiments,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Check experiment files without starting anything. Exit code 2 when one of them cannot be run as written.

    Whether programs are built does not matter.
    """
    from orchestrator.experiment import make_plan
    from orchestrator.experiment.read.problems import ExperimentError

    console.as_json = as_json
    documents = []
    for file in files:
        try:
            plan = make_plan(file, needs_programs=False)
        except ExperimentError as error:
            for line in error.lines:
                console.progress(line)
            problems = [
                {"source": p.mark.source.name, "line": p.mark.line, "column": p.mark.column, "message": p.message}
                for p in error.problems
            ]
            documents.append({"file": str(file), "valid": False, "problems": problems})
        else:
            console.result(f"{file}: valid, {len(plan.cells):,} cells, {len(plan.trials):,} trials")
            documents.append({"file": str(file), "valid": True, "problems": []})
    console.emit({"files": documents})
    if not all(document["valid"] for document in documents):
        raise typer.Exit(UsageError.exit_code)


def schema(
    as_json: Annotated[bool, typer.Option("--json", help="Changes nothing: a schema is JSON either way.")] = False,
) -> None:
    """Print the JSON Schema of experiment files, so that editors complete and check them.

    `experiments/schema.json` is this; the first line of a file names it: `# yaml-language-server: $schema=schema.json`.
    """
    from orchestrator.experiment.model.json_schema import json_schema

    del as_json
    console.document(json.dumps(json_schema(), indent=2, ensure_ascii=False))


def plan(
    file: Experiment,
    overrides: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Resolve an experiment into its matrix, schedule and expected duration, and make it the current plan."""
    from orchestrator.cli.plan_text import earlier_summaries, plan_document, plan_lines
    from orchestrator.experiment import make_plan
    from orchestrator.experiment.plan import store
    from orchestrator.experiment.plan.topology import programs_in_words
    from orchestrator.experiment.providers import PROVIDERS
    from orchestrator.hosts.busy import look
    from orchestrator.hosts.plan_warnings import kernel_lacks

    console.as_json = as_json
    try:
        made = make_plan(file, overrides or ())
    except OrchError:
        store.forget_current(WORKSPACE.plans)
        raise
    path = store.save(made, WORKSPACE.plans)
    provider = PROVIDERS[made.provider]
    document = plan_document(made, path, earlier_summaries(WORKSPACE.results, made.name))
    document["warnings"] += kernel_lacks(made)
    document["programs"] = programs_in_words(made)
    document["terraform"] = None
    if provider.makes_hosts:
        from orchestrator.hosts.provision.preview import preview  # SSH, Ansible and Terraform take a while to import

        document["terraform"] = preview(made).to_dict()
    document["machine_now"] = look().to_dict() if provider.hosts_are_this_machine else None
    for line in plan_lines(made, document):
        console.result(line)
    console.emit(document)
