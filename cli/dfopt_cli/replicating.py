"""What the commands that simulate share: options, the folder for traces, and the live line."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dfopt_cli.common import shows_progress

if TYPE_CHECKING:
    from dfopt_cli.progress import ReplicationLine

MOST_REPLICATIONS = 100_000
"""All of them are kept in memory."""

ReplicationsOption = Annotated[
    int,
    typer.Option(min=1, max=MOST_REPLICATIONS, help="How often to simulate each policy."),
]

SeedOption = Annotated[
    int, typer.Option(min=0, help="Seed of the first replication; the others count on.")
]

WorkersOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Number of processes; by default one a processor.", show_default=False
    ),
]


def output_folder(name: str | None) -> Path | None:
    """Return the folder for what is written; it is made if it is not there."""
    if name is None:
        return None
    from dfopt.errors import FileError

    if not name:
        raise FileError("is no folder to write to; name one", file="''")
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise FileError(f"is no folder to write to ({reason}); name another", file=name) from None
    return folder


def progress_of(*, quiet: bool) -> AbstractContextManager[ReplicationLine | None]:
    """Return the live line, or nothing where nobody would see it."""
    if not shows_progress(quiet):
        return nullcontext()
    from dfopt_cli.progress import ReplicationLine

    return ReplicationLine()
