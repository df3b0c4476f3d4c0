"""``dfopt export``: the integer program of an instance, for other solvers."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from dfopt.errors import FileError
from dfopt.files import read_instance
from dfopt.files.storage import write_text
from dfopt_cli.failures import naming
from dfopt_cli.options import InstanceArgument
from dfopt_cli.output_files import check_output
from dfopt_cli.printing import print_text

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
