"""Tasks in a few processes, each of which does one after another.

Not :mod:`multiprocessing`: its children import the caller's main module again, which a script
without a guard does not survive. A child is ``python -m dfopt.processes``; tasks come on its
standard input and answers go to its standard output, both pickled.
"""

from __future__ import annotations

import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from dfopt.errors import DfoptError

CHILD = "dfopt.processes"
AnswerT_co = TypeVar("AnswerT_co", covariant=True)
AnswerT = TypeVar("AnswerT")


class Task(Protocol[AnswerT_co]):
    """Something to do that can be pickled, as can its answer."""

    def perform(self) -> AnswerT_co:
        """Do it."""


def performed(
    tasks: Sequence[Task[AnswerT]], processes: int
) -> Generator[tuple[Task[AnswerT], AnswerT], None, None]:
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
        When a task raises one, or a process ends without an answer.
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
    children: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(processes):
            children.append(_child())
            threading.Thread(
                target=_feed, args=(children[-1], waiting, answers), daemon=True
            ).start()
        for _ in tasks:
            task, answer = answers.get()
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
                answers.put((task, _ended(child.wait())))
                return
            except Exception as error:  # somebody waits for an answer
                answers.put((task, error))
                return
            answers.put((task, answer))


def _ended(code: int) -> DfoptError:
    return DfoptError(
        f"a process at work ended with code {code}; take fewer workers (--workers 1), which need "
        "less memory"
    )


def main() -> None:
    """Do the tasks on standard input, as long as there are any."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever a task prints is no answer
    while True:
        try:
            task = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = task.perform()
        except DfoptError as error:
            answer = error
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()
