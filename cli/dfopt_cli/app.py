"""The ``dfopt`` command: its sub-commands, and how failures reach the person at the terminal."""

from __future__ import annotations

import io
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dfopt.errors import DfoptError
from dfopt_cli import generate, measure, model, plot, simulate, trace
from dfopt_cli.bench import bench
from dfopt_cli.compare import compare
from dfopt_cli.exit_codes import INTERRUPTED
from dfopt_cli.export import export
from dfopt_cli.failures import fail, warnings_of
from dfopt_cli.from_trace import from_trace
from dfopt_cli.import_files import import_files
from dfopt_cli.info import info
from dfopt_cli.report import report
from dfopt_cli.schema import schema
from dfopt_cli.solve import solve
from dfopt_cli.verify import verify


class DfoptGroup(TyperGroup):
    """Commands whose errors are one line each on standard error; bugs keep their traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that ``ctx`` names."""
        if isinstance(sys.stdout, io.TextIOWrapper):  # a name in a file may hold any character
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            with warnings_of("dfopt"):
                return super().invoke(ctx)
        except DfoptError as error:
            fail(error)
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    name="dfopt",
    cls=DfoptGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def print_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        from dfopt import __version__

        typer.echo(f"dfopt {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Exact scheduling of tasks that share data.

    Finds which task should run on which CPU, and in which order, so that switching between
    data fragments costs the least, and proves that nothing is better.
    """


app.command()(solve)
app.command()(verify)
app.command()(info)
app.command()(bench)
app.command()(compare)
app.command()(report)
app.command("import")(import_files)
app.command()(export)
app.command()(schema)
app.add_typer(generate.app, name="generate", help="Generate random instances.")
app.add_typer(trace.app, name="trace", help="Convert traces, schedules and instances.")
app.add_typer(simulate.app, name="simulate", help="Simulate policies on workloads.")
app.add_typer(measure.app, name="measure", help="Measure the machine at hand.")
model.app.command("from-trace")(from_trace)
app.add_typer(model.app, name="model", help="Evaluate the analytic models.")
app.add_typer(plot.app, name="plot", help="Draw pictures: SVG, PNG or PDF.")
