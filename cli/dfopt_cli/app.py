"""The ``dfopt`` command: its sub-commands, and how failures reach the person at the terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer import Exit, Option
from typer.core import TyperGroup

from dfopt.errors import DfoptError
from dfopt_cli import generate, measure, model, plot, simulate, trace
from dfopt_cli.bench import bench
from dfopt_cli.compare import compare, report
from dfopt_cli.exit_codes import INTERRUPTED
from dfopt_cli.failures import fail, interruptions, warnings_of
from dfopt_cli.foreign import export, import_files, schema
from dfopt_cli.from_trace import from_trace
from dfopt_cli.info import info
from dfopt_cli.options import HeadedCommand, as_command
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
                raise Exit(INTERRUPTED) from None


app = typer.Typer(
    name="dfopt",
    cls=DfoptGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)


def print_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        from dfopt import __version__

        typer.echo(f"dfopt {__version__}")
        raise Exit


@app.callback(help=HELP)
def main(
    version: Annotated[
        bool,
        Option(
            "--version", callback=print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Show what switching between data costs, and the least that it could cost."""


COMMANDS: dict[str, Callable[..., None]] = {
    "compare": compare,
    "report": report,
    "solve": solve,
    "verify": verify,
    "info": info,
    "import": import_files,
    "export": export,
    "bench": bench,
    "schema": schema,
    "plot schedule": plot.schedule,
    "plot profile": plot.profile,
    "plot foresight": plot.foresight,
    "plot frontier": plot.frontier,
    "plot attainable": plot.attainable,
    "plot crossover": plot.crossover,
    "plot crossover-plane": plot.crossover_plane,
    "plot contention": plot.contention,
    "plot batching": plot.batching,
    "plot counters": plot.counters,
    "plot queueing": plot.queueing,
    "trace convert": trace.convert,
    "trace to-instance": trace.to_instance,
    "trace from-result": trace.from_result,
    "trace label": trace.label,
    "trace import": trace.import_requests,
    "simulate run-queue": simulate.run_queue,
    "simulate space-sharing": simulate.space_sharing,
    "generate zipf": generate.zipf,
    "generate uniform": generate.uniform,
    "generate tight": generate.tight,
    "generate matrix": generate.matrix,
    "generate adversary-round-robin": generate.adversary_round_robin,
    "generate adversary-balance": generate.adversary_balance,
    "measure machine": measure.machine,
    "measure penalties": measure.penalties,
    "model response-time": model.response_time,
    "model crossover": model.crossover,
    "model contention": model.contention,
    "model batching": model.batching,
    "model counters": model.counters,
    "model queueing": model.queueing,
    "model from-trace": from_trace,
}
"""What is run for the words that call a command."""

GROUPS = {
    "": app,
    "plot": typer.Typer(help="Draw pictures: SVG, PNG or PDF."),
    "trace": typer.Typer(help="Convert and label traces; make instances of them."),
    "simulate": typer.Typer(help="Simulate scheduling policies on workloads."),
    "generate": typer.Typer(help="Generate random instances."),
    "measure": typer.Typer(help="Measure what switches cost on this machine."),
    "model": typer.Typer(help="Evaluate models of sharing, locks, batches and queues."),
}
"""The groups of commands; they are listed after commands."""

for words, command in COMMANDS.items():
    group, _, name = words.rpartition(" ")
    kind = model.FormulaCommand if group == "model" else HeadedCommand
    GROUPS[group].command(name, cls=kind)(as_command(command))
for group, commands in GROUPS.items():
    if group:
        app.add_typer(commands, name=group, no_args_is_help=True)
