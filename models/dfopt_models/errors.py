"""The errors that the models raise on purpose."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from dfopt.checks import described
from dfopt.errors import DfoptError


class ModelError(DfoptError):
    """Parameters for which a model is not defined."""


class OptionError(ModelError):
    """A wrong value of what a model is asked for beside its parameters, which ``place`` names."""


def check_known(
    name: str,
    known: Collection[str],
    what: str,
    place: str = "",
    error: type[DfoptError] = ModelError,
) -> None:
    """Refuse the name of something that there is not; the error has the known names.

    Parameters
    ----------
    name
        The name.
    known
        Those that there are.
    what
        What has such names.
    place
        Where the name stands.
    error
        The error that is raised.
    """
    if name not in known:
        nearest = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {described(nearest[0])}?" if nearest else ""
        names = ", ".join(map(described, known))
        raise error(f"there is no {what} {described(name)}; known are {names}{hint}", place=place)


def check_distinct(names: Collection[str], place: str) -> None:
    """Refuse names of which two are the same; ``{}`` in the place stands for a position."""
    seen: set[str] = set()
    for position, name in enumerate(names):
        if name in seen:
            raise ModelError(
                f"{described(name)} is there twice; rename one of them",
                place=place.format(position),
            )
        seen.add(name)
