"""``dfopt schema``: the JSON Schema of a file format."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from dfopt import files
from dfopt_cli import completion
from dfopt_cli.printing import print_json


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
