"""Tasks in a few processes, each of which does one after another.

Not :mod:`multiprocessing`: its children import the caller's main module again, which a script
without a guard does not survive.
"""

from __future__ import annotations

import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from dfopt.errors import DfoptError

CHILD = "dfopt.simulate.child"
AnswerT_co = TypeVar("AnswerT_co", covariant=True)
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class Failure:
    """A :class:`DfoptError` on its way from a child; exceptions with keywords do not pickle."""

    problem: str
    place: str
    file: str


class Task(Protocol[AnswerT_co]):
    """Something to do that can be pickled, as can its answer."""

    def perform(self) -> AnswerT_co:
        """Do it."""


def performed(
    tasks: Sequence[Task[AnswerT]], processes: int
) -> Iterator[tuple[Task[AnswerT], AnswerT]]:
    """Yield tasks with their answers as these come in.

    Parameters
    ----------
    tasks
        What is to do.
    processes
        How many work at once; one is this process itself.

    Raises
    ------
    DfoptError
        When a task raises one.
    """
    processes = min(processes, len(tasks))
    if processes <= 1:
        for task in tasks:
            yield task, task.perform()
        return
    waiting: queue.SimpleQueue[Task[AnswerT]] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    answers: queue.SimpleQueue[tuple[Task[AnswerT], Any]] = queue.SimpleQueue()
    children = [_child() for _ in range(processes)]
    try:
        for child in children:
            threading.Thread(target=_feed, args=(child, waiting, answers), daemon=True).start()
        for _ in tasks:
            task, answer = answers.get()
            if isinstance(answer, Failure):
                raise DfoptError(answer.problem, place=answer.place, file=answer.file)
            if isinstance(answer, Exception):
                raise answer
            yield task, answer
    finally:
        # Whatever ended this early, nobody waits for what is still at work.
        for child in children:
            child.kill()
        for child in children:
            child.wait()


def _child() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", CHILD]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _feed(
    child: subprocess.Popen[bytes],
    waiting: queue.SimpleQueue[Any],
    answers: queue.SimpleQueue[tuple[Any, Any]],
) -> None:
    """Let a child do tasks until there are no more."""
    assert child.stdin is not None
    assert child.stdout is not None
    # What a killed child has not read cannot be written any more, when its pipe is closed.
    with suppress(BrokenPipeError), child.stdin, child.stdout:
        while True:
            try:
                task = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                pickle.dump(task, child.stdin)
                child.stdin.flush()
                answer = pickle.load(child.stdout)
            except (OSError, EOFError):  # it has ended: by a defect, or because it was killed
                answers.put((task, ChildProcessError(f"{CHILD} ended with {child.wait()}")))
                return
            except Exception as error:  # somebody waits for an answer
                answers.put((task, error))
                return
            answers.put((task, answer))
