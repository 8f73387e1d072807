"""The commands under one roof."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from condensity.cli.fit import fit_command
from condensity.cli.predict import predict_command
from condensity.cli.reproduce import reproduce_command
from condensity.cli.show import demo_command, evaluate_command, inspect_command, report_command

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


app.command("fit")(fit_command)
app.command("predict")(predict_command)
app.command("inspect")(inspect_command)
app.command("evaluate")(evaluate_command)
app.command("report")(report_command)
app.command("demo")(demo_command)
app.command("reproduce")(reproduce_command)
