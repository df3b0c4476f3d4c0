"""``dfopt plot``: pictures, one command per kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dfopt_cli.common import InstanceArgument, ResultArgument, naming, refuse_overwriting

if TYPE_CHECKING:
    from dfopt.instance import Instance
    from dfopt.result import Result
    from dfopt.schedule import Schedule

app = typer.Typer(no_args_is_help=True)

Picture = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write the picture; its name ends in .svg, .png or .pdf.",
    ),
]


@app.command()
def schedule(instance: InstanceArgument, result: ResultArgument, output: Picture) -> None:
    """Draw a schedule as a Gantt chart.

    Example: dfopt plot schedule instance.json result.json -o schedule.svg
    """
    from dfopt.files import check_writable, read_instance, read_result
    from dfopt.plot import check_picture_name, plot_schedule, save_picture

    check_picture_name(output)
    with naming(instance):
        problem = read_instance(instance)
    with naming(result):
        solved = read_result(result)
    refuse_overwriting(output, instance, result)
    check_writable(output)
    with naming(result):
        axes = plot_schedule(problem, schedule_of(solved, problem))
    save_picture(axes, output)


def schedule_of(result: Result, instance: Instance) -> Schedule:
    """Return the schedule of a result that belongs to this instance.

    Raises
    ------
    FileError
        When it belongs to another one, or has no schedule.
    """
    from dfopt.errors import FileError
    from dfopt.files import fingerprint

    if result.instance_sha256 != fingerprint(instance):
        raise FileError(
            f"belongs to another instance, {result.instance_name or 'without a name'}; "
            "draw it with the instance it was solved from",
            place="instance.sha256",
        )
    if result.schedule is None:
        raise FileError(
            f"is null: this result is {result.status}, there is nothing to draw", place="schedule"
        )
    return result.schedule
