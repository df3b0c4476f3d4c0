"""Workloads of a user's own, from a file or a module of Python.

Other processes load the code again, so a scenario keeps only where it is. Errors that the code
raises name its file, the line, and the thread whose program it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from dfopt.errors import DfoptError
from dfopt.simulate.parameters import made
from dfopt.simulate.steps import Spawn
from dfopt.simulate.workload import Burst, NewThread, Pause, Step, Steps, Workload
from dfopt.structs import replace
from dfopt.user_code import PYTHON, class_in, failure, file_of, source_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWorkload:
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
        """Return a fresh workload, whose programs name the line of each error.

        Raises
        ------
        DfoptError
            When the code fails, or returns something else.
        """
        kind = kind_in(self.source)
        file = file_of(kind) or kind.__module__
        with naming_line(self.name, file, "build"):
            built = made(kind, self.parameters).build(random)
        if not isinstance(built, Workload):
            raise DfoptError(
                f"the workload {self.name!r} returns {built!r} from build; return a Workload",
                file=file,
            )
        watcher = ProgramWatcher(workload=self.name, file=file)
        return replace(built, threads=tuple(map(watcher.watched, built.threads)))


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


@contextmanager
def naming_line(workload: str, file: str, where: str) -> Iterator[None]:
    """Let errors name the workload, its file, the line, and what was at work.

    Raises
    ------
    DfoptError
        When anything is raised.
    """
    try:
        yield
    except (Exception, SystemExit) as error:  # whatever the code of others raises
        what, frame = failure(error, file)
        if isinstance(error, DfoptError):
            if error.file:
                raise
            what = str(error)
        raise DfoptError(
            f"the workload {workload!r} fails in {where} ({what}); correct it",
            place="" if frame is None else f"line {frame.lineno}",
            file=file,
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramWatcher:
    """Looks at what the programs of a workload do; see :func:`naming_line`."""

    workload: str
    file: str

    def watched(self, thread: NewThread) -> NewThread:
        """Return a thread whose program is watched."""
        return replace(thread, steps=self._steps(thread))

    def _steps(self, thread: NewThread) -> Steps:
        where = f"the program of {thread.name}"
        steps = iter(thread.steps)
        while True:
            with naming_line(self.workload, self.file, where):
                try:
                    step = next(steps)
                except StopIteration:
                    return
            if isinstance(step, Burst):
                yield step
            elif isinstance(step, Spawn):
                yield Spawn(self.watched(step.child))
            elif not callable(getattr(step, "perform", None)):
                frame = getattr(steps, "gi_frame", None)
                raise DfoptError(
                    f"the workload {self.workload!r} yields {step!r} in {where}; yield bursts and "
                    "steps",
                    place="" if frame is None else f"line {frame.f_lineno}",
                    file=self.file,
                )
            elif type(step).__module__.partition(".")[0] == __name__.partition(".")[0]:
                yield step
            else:
                yield WatchedStep(step=step, watcher=self, where=where)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedStep:
    """A step of a user's own class."""

    step: Step
    watcher: ProgramWatcher
    where: str

    def perform(self, kernel: Any, thread: Any) -> Pause | None:
        """Do it."""
        with naming_line(self.watcher.workload, self.watcher.file, self.where):
            return self.step.perform(kernel, thread)
