"""``dfopt schema``: the JSON Schema of a file format."""

from __future__ import annotations

from typing import Annotated

import typer

from dfopt_cli.common import print_json


def schema(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The format, such as instance or result."),
    ],
) -> None:
    """Print a format's JSON Schema.

    Example: dfopt schema instance > dfopt-instance.schema.json
    """
    from dfopt.files import schema as schema_of

    print_json(schema_of(name))
