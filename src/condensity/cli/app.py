"""The command line application."""

from __future__ import annotations

import sys
from importlib import metadata
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
from condensity.cli.signals import StoppedBySignal, exit_on_signals, signals_before_errors

#: The class is click's, or that of the copy of click in typer.
UsageError: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"condensity {metadata.version('condensity')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", help="print the version", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Conditional densities p(y|x), and the directions of x that they depend on."""


def run_app() -> None:
    """Run a command; errors in its options are printed as one sentence, like other errors."""
    exit_on_signals()
    try:
        with signals_before_errors():
            sys.exit(app(standalone_mode=False) or 0)
    except StoppedBySignal:
        typer.echo("condensity: stopped", err=True)
        raise
    except UsageError as error:
        command = error.ctx.command_path if error.ctx else "condensity"
        message = " ".join(error.format_message().split()).rstrip(".")
        if message:  # without arguments, the help was printed
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
