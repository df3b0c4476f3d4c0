"""``dfopt import``, ``export`` and ``schema``: instances of other tools, and for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, BadParameter, Exit

from dfopt import files
from dfopt.errors import DfoptError, FileError
from dfopt.files import read_instance
from dfopt.files.imported import import_instance, stem
from dfopt.files.storage import write_text
from dfopt.structs import Positive
from dfopt_cli import completion
from dfopt_cli.exit_codes import FAILED
from dfopt_cli.failures import naming
from dfopt_cli.generate import write_to
from dfopt_cli.options import InstanceArgument
from dfopt_cli.printing import (
    check_output,
    output_folder,
    print_json,
    print_text,
    refuse_overwriting,
    say,
    with_options,
)


def import_files(
    files: list[str],
    *,
    cpus: Positive | None = None,
    output: str = "-",
) -> None:
    """Make instances from files of other tools.

    These are read: TSPLIB (TSP, ATSP and SOP), tables of sequential orderings, STG, and bin
    packing with setups (BPPS) or colours (BPPMCF). The format is told by the content. Of several
    files each becomes an instance in a folder; one that cannot be read is named, and the others
    are written.

    Example: dfopt import ft53.atsp -o ft53.json

    Arguments
    ---------
    files : FILE
        Files of other tools.

    Options
    -------
    cpus
        Number of CPUs, for files that leave it open: task graphs, and bins with setups. For bins
        with colours, instead of the number in the file.
    output : -o FILE|FOLDER
        Where to write the instance; - is standard output. Of several files: a folder.
    """
    targets = {files[0]: output}
    if len(files) > 1 and output == "-":
        raise BadParameter("several files need a folder", param_hint="--output")
    if len(files) > 1 or Path(output).is_dir():
        targets = targets_in(output, files)
    failed = False
    for file, target in targets.items():
        try:
            with naming(file):
                instance = import_instance(file, cpus=cpus)
            refuse_overwriting(target, *files)
            write_to(target, instance)
        except DfoptError as error:
            if len(files) == 1:
                raise
            say(f"dfopt: {with_options(str(error))}")
            failed = True
    if failed:
        raise Exit(FAILED)


def targets_in(output: str, files: list[str]) -> dict[str, str]:
    """Return the file in a folder, which is made, that each file's instance is written to."""
    folder = output_folder(output)
    targets = {file: f"{folder}/{stem(file)}.json" for file in files}
    sources: dict[str, str] = {}
    for file, target in targets.items():
        other = sources.setdefault(target, file)
        if other != file:
            raise FileError(
                f"the instances of {other} and {file} would have the same name; "
                "import one of them by itself",
                file=target,
            )
    return targets


ProgramFormat = Literal["lp", "mps"]


def export(
    instance_file: InstanceArgument,
    *,
    output: str = "-",
    program_format: ProgramFormat | None = None,
) -> None:
    """Write an instance as an integer program (LP or MPS).

    It is for other solvers and for teaching. Its least value is that of the best schedule.
    Comments at the top say what its variables mean. Formats: LP (CPLEX's) and MPS (free).

    Example: dfopt export instance.json -o model.lp

    Options
    -------
    output : -o FILE
        Where to write it; - is standard output. The name ends in .lp or .mps.
    program_format : --format
        The format, if the name of the file does not say it; lp on standard output.
    """
    chosen = program_format or format_of(output)
    if output != "-":
        check_output(output, instance_file)
    from dfopt.integer_program import integer_program, lp_text, mps_text

    with naming(instance_file):
        program = integer_program(read_instance(instance_file))
    text = lp_text(program) if chosen == "lp" else mps_text(program)
    if output == "-":
        print_text(text)
    else:
        write_text(Path(output), text)


def format_of(output: str) -> ProgramFormat:
    """Return the format that the name of a file stands for.

    Raises
    ------
    FileError
        When it stands for none.
    """
    name = output.removesuffix(".gz").lower()
    if output == "-" or name.endswith(".lp"):
        return "lp"
    if name.endswith(".mps"):
        return "mps"
    raise FileError(
        "is neither an LP nor an MPS file by its name; let it end in .lp or .mps, or give --format",
        file=output,
    )


def schema(
    name: Annotated[str, Argument(autocompletion=completion.schemas)],
) -> None:
    """Print a format's JSON Schema.

    Example: dfopt schema instance > dfopt-instance.schema.json

    Arguments
    ---------
    name : NAME
        The format, such as instance or dfopt-instance/1.
    """
    print_json(files.schema(name))
