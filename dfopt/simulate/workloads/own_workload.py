"""Workloads of a user's own, from a file or a module of Python.

Other processes load the code again, so a scenario keeps only where it is. Errors that the code
raises name its file, the line, and the function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from dfopt.errors import DfoptError
from dfopt.simulate.parameters import made
from dfopt.simulate.workload import Workload
from dfopt.structs import Record
from dfopt.user_code import PYTHON, class_in, error_in, file_of, source_parts


class OwnWorkload(Record):
    """A kind of workload that a user wrote, with its parameters.

    Parameters
    ----------
    name
        What it is called: its attribute ``name``, or that of its class.
    source
        ``file.py``, ``file.py:Class`` or ``module:Class``.
    parameters
        The values of its parameters that are not their defaults.
    """

    name: str
    source: str
    parameters: Mapping[str, object]

    def build(self, random: Random) -> Workload:
        """Return a fresh workload.

        Raises
        ------
        DfoptError
            When the code fails, or returns something else.
        """
        with self.naming_errors():
            built = made(self.kind, self.parameters).build(random)
        if not isinstance(built, Workload):
            raise DfoptError(
                f"the workload {self.name!r} returns {built!r} from build; return a Workload",
                file=file_of(self.kind),
            )
        return built

    @property
    def kind(self) -> Any:
        """The class."""
        return kind_in(self.source)

    @contextmanager
    def naming_errors(self) -> Iterator[None]:
        """Let errors that the code raises name the workload, its file and the line.

        Raises
        ------
        DfoptError
            When the code raises anything, or calls what raises it.
        """
        try:
            yield
        except (Exception, SystemExit) as error:  # whatever the code of others raises
            named = error_in("workload", self.name, file_of(self.kind), error)
            if named is None or (isinstance(error, DfoptError) and error.file):
                raise
            raise named from error


def is_own_workload(source: str) -> bool:
    """Return whether a text says where a workload is, rather than what it is called."""
    return ":" in source or source.endswith(PYTHON)


def in_folder(source: str, folder: Path) -> str:
    """Return a source in which the name of a file does not depend on the folder."""
    where, colon, name = source_parts(source)
    return f"{folder / where}{colon}{name}" if where.endswith(PYTHON) else source


def own_workload(source: str, parameters: Mapping[str, object]) -> OwnWorkload:
    """Return a workload of a user's own, once its code is loaded and takes the parameters.

    Raises
    ------
    DfoptError
        When there is no such workload, its code cannot be loaded, or it refuses a parameter.
    """
    kind = kind_in(source)
    made(kind, parameters)
    name = getattr(kind, "name", None)
    return OwnWorkload(
        name=name if isinstance(name, str) else kind.__name__,
        source=source,
        parameters=parameters,
    )


def kind_in(source: str) -> Any:
    """Return the class of a workload: one with a method ``build``.

    Raises
    ------
    DfoptError
        When there is none, or several in a file whose class is not named.
    """
    return class_in(
        source,
        _is_workload,
        "workload",
        "a class with a method build",
        remedy="give a class a method build",
    )


def _is_workload(found: object) -> bool:
    return isinstance(found, type) and callable(getattr(found, "build", None))
