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
from dfopt_cli.failures import fail, interruptions, warnings_of
from dfopt_cli.from_trace import from_trace
from dfopt_cli.import_files import import_files
from dfopt_cli.info import info
from dfopt_cli.report import report
from dfopt_cli.schema import schema
from dfopt_cli.solve import solve
from dfopt_cli.verify import verify

HELP = """Show what switching between data costs, and the least that it could cost.

A CPU that goes from one group of data to another pays for it, and so does a GPU that loads another
model, or a machine that is set up for another family of jobs. For a trace, dfopt says what was
paid, what was attainable, and what no schedule can go below. For tasks that are known beforehand
it finds the cheapest schedule. Both come with a proof.

\b
A trace:         dfopt compare trace.txt --df wakeups
A page of it:    dfopt report trace.txt --df wakeups -o report.html
An instance:     dfopt solve instance.json
Any file:        dfopt info FILE
"""
"""The text above the list of commands; after the sign of a backspace lines stay as they are."""


class DfoptGroup(TyperGroup):
    """Commands whose errors are one line each on standard error; bugs keep their traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that ``ctx`` names."""
        if isinstance(sys.stdout, io.TextIOWrapper):  # a name in a file may hold any character
            sys.stdout.reconfigure(errors="backslashreplace")
        with interruptions:
            try:
                with warnings_of("dfopt"):
                    return super().invoke(ctx)
            except DfoptError as error:
                fail(error)
            except (KeyboardInterrupt, ImportError, SystemError) as error:
                if not interruptions.came and not isinstance(error, KeyboardInterrupt):
                    raise
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


@app.callback(help=HELP)
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Show what switching between data costs, and the least that it could cost."""


# Groups are listed after commands.
app.command()(compare)
app.command()(report)
app.command()(solve)
app.command()(verify)
app.command()(info)
app.command("import")(import_files)
app.command()(export)
app.command()(bench)
app.command()(schema)
app.add_typer(plot.app, name="plot", help="Draw pictures: SVG, PNG or PDF.")
app.add_typer(trace.app, name="trace", help="Convert and label traces; make instances of them.")
app.add_typer(simulate.app, name="simulate", help="Simulate scheduling policies on workloads.")
app.add_typer(generate.app, name="generate", help="Generate random instances.")
app.add_typer(measure.app, name="measure", help="Measure what switches cost on this machine.")
model.app.command("from-trace")(from_trace)
app.add_typer(
    model.app, name="model", help="Evaluate models of sharing, locks, batches and queues."
)
