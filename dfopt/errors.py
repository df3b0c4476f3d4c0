"""The errors that dfopt raises on purpose: one line each, naming file, place and remedy.

A message names a parameter in backquotes, alone or with a value: `resume` or `workers=1`. So the
command line can show its option instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Self


class DfoptError(Exception):
    """Base class of every error that a user can correct.

    Parameters
    ----------
    problem
        What is wrong and what to do about it, without a full stop.
    place
        The place in the document or object, such as ``tasks[3].lines``.
    file
        The file as the user named it.
    """

    def __init__(self, problem: str, *, place: str = "", file: str = "") -> None:
        super().__init__(problem, place, file)
        self.problem = problem
        self.place = place
        self.file = file

    def __reduce__(self) -> tuple[Callable[[], Self], tuple[()]]:
        # By default pickle passes everything by position, and errors travel between processes.
        return partial(type(self), self.problem, place=self.place, file=self.file), ()

    def __str__(self) -> str:
        parts = (part for part in (self.file, self.place, self.problem) if part)
        return " ".join(": ".join(parts).splitlines())

    def within(self, place: str) -> Self:
        """Return the same error seen from the object that holds ``place``."""
        inner = self.place if self.place.startswith("[") or not self.place else f".{self.place}"
        return type(self)(self.problem, place=f"{place}{inner}", file=self.file)

    def in_file(self, file: str) -> Self:
        """Return the same error with the name of the file it was found in."""
        return type(self)(self.problem, place=self.place, file=file)


class InstanceError(DfoptError):
    """An instance that contradicts itself or the model."""


class FileError(DfoptError):
    """A file that cannot be read, understood or written."""


class MethodError(DfoptError):
    """A method that does not fit the instance it is asked to solve."""


class DfoptWarning(UserWarning):
    """A warning of something that is allowed, but probably not meant."""
