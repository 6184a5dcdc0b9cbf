"""`orch`: registers the verbs, and turns every error into one message and one exit code."""

from __future__ import annotations

import importlib
import sys

import typer

from orchestrator.cli.console import console
from orchestrator.errors import Interrupted, OrchError

# In the order in which a person meets them. Each is orchestrator/cli/<verb>.py with a function `command`.
VERBS: tuple[str, ...] = ()

app = typer.Typer(
    help="Which protocol should these two services speak, here, with my payload, over my distance?",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

for verb in VERBS:
    module = importlib.import_module(f"orchestrator.cli.{verb}")
    app.command(verb, help=module.__doc__)(module.command)


def main() -> None:
    """Run the program; the only place that ends the process."""
    try:
        app(standalone_mode=True)
    except OrchError as error:
        console.error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        console.error(Interrupted("interrupted"))
        sys.exit(Interrupted.exit_code)
