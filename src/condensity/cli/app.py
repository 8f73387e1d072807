"""The commands under one roof."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer

from condensity.cli.fit_command import fit_command
from condensity.cli.messages import printable
from condensity.cli.predict_command import predict_command
from condensity.cli.reproduce_command import reproduce_command
from condensity.cli.show_commands import (
    demo_command,
    evaluate_command,
    inspect_command,
    report_command,
)

#: Typer has it from click, or from a copy of click of its own.
UsageError: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"condensity {version('condensity')}")
        raise typer.Exit


@app.callback()
def main(
    asked: Annotated[
        bool,
        typer.Option("--version", help="say the version", is_eager=True, callback=_say_version),
    ] = False,
) -> None:
    """Conditional densities p(y|x) and the few directions of x they depend on."""


def run() -> None:
    """Run a command; what is wrong with its options is told in a sentence, as all else is."""
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except UsageError as error:
        command = error.ctx.command_path if error.ctx else "condensity"
        message = " ".join(error.format_message().split()).rstrip(".")
        if message:  # without any arguments the help was shown
            typer.echo(f"condensity: {printable(message)}: see {command} --help", err=True)
    except (typer.Abort, KeyboardInterrupt):
        typer.echo("condensity: stopped", err=True)
        sys.exit(130)
    sys.exit(2)


app.command("fit")(fit_command)
app.command("predict")(predict_command)
app.command("inspect")(inspect_command)
app.command("evaluate")(evaluate_command)
app.command("report")(report_command)
app.command("demo")(demo_command)
app.command("reproduce")(reproduce_command)
