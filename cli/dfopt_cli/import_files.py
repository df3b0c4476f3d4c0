"""``dfopt import``: instances from the text formats of other tools."""

from __future__ import annotations

from pathlib import Path

from typer import BadParameter, Exit

from dfopt.errors import DfoptError, FileError
from dfopt.files import instance_to_document, write_instance
from dfopt.files.imported import import_instance, stem
from dfopt.structs import Positive
from dfopt_cli.exit_codes import FAILED
from dfopt_cli.failures import naming
from dfopt_cli.output_files import output_folder, refuse_overwriting
from dfopt_cli.printing import print_json, say, with_options


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
    if len(files) == 1 and not Path(output).is_dir():
        with naming(files[0]):
            instance = import_instance(files[0], cpus=cpus)
        if output == "-":
            print_json(instance_to_document(instance))
        else:
            refuse_overwriting(output, *files)
            write_instance(instance, output)
        return
    if output == "-":
        raise BadParameter("several files need a folder", param_hint="--output")
    folder = output_folder(output)
    assert folder is not None
    targets = targets_in(folder, files)
    failed = False
    for file, target in targets.items():
        try:
            with naming(file):
                instance = import_instance(file, cpus=cpus)
            refuse_overwriting(str(target), *files)
            write_instance(instance, target)
        except DfoptError as error:
            say(f"dfopt: {with_options(str(error))}")
            failed = True
    if failed:
        raise Exit(FAILED)


def targets_in(folder: Path, files: list[str]) -> dict[str, Path]:
    """Return the file that each file's instance is written to."""
    targets = {file: folder / f"{stem(file)}.json" for file in files}
    sources: dict[Path, str] = {}
    for file, target in targets.items():
        other = sources.setdefault(target, file)
        if other != file:
            raise FileError(
                f"the instances of {other} and {file} would have the same name; "
                "import one of them by itself",
                file=str(target),
            )
    return targets
