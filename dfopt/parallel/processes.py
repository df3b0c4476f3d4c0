"""Tasks in a few processes, each of which does one after another.

Not :mod:`multiprocessing`: its children import the caller's main module again, which a script
without a guard does not survive. A child is ``python -m dfopt.parallel.processes``; tasks come on
its standard input and answers go to its standard output, both pickled.
"""

from __future__ import annotations

import io
import os
import pickle
import queue
import select
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar

from dfopt.errors import DfoptError

CHILD = "dfopt.parallel.processes"
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
        When a task raises one, or a process ends without an answer. A task that raises anything
        else in another process leaves its traceback on standard error.
    """
    processes = min(processes, len(tasks))
    if processes <= 1:
        for task in tasks:
            yield task, task.perform()
        return
    waiting: queue.SimpleQueue[Task[AnswerT]] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    answers: queue.SimpleQueue[tuple[Task[AnswerT], Any, Exception | None]] = queue.SimpleQueue()
    children: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(processes):
            children.append(_child())
            threading.Thread(
                target=_feed, args=(children[-1], waiting, answers), daemon=True
            ).start()
        for _ in tasks:
            task, answer, error = answers.get()
            if error is not None:
                raise error
            yield task, answer
    finally:
        # Whatever ended this early, nobody waits for what is still at work.
        for child in children:
            child.kill()
        for child in children:
            child.wait()


def _child() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", CHILD]
    with _deaf_to_interrupts():
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Block Ctrl-C; whoever is born here never hears it, not even while it still starts.

    It is for the parent, which ends its children.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _feed(
    child: subprocess.Popen[bytes],
    waiting: queue.SimpleQueue[Any],
    answers: queue.SimpleQueue[tuple[Any, Any, Exception | None]],
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
                answer, error = pickle.load(child.stdout)
            # It has ended, perhaps amid an answer: by a defect, or because it was killed.
            except (OSError, EOFError, pickle.UnpicklingError):
                answers.put((task, None, _ended(child.wait())))
                return
            except Exception as raised:  # somebody waits for an answer
                answers.put((task, None, raised))
                return
            answers.put((task, answer, error))


def _ended(code: int) -> DfoptError:
    if code > 0:  # no signal: something called os._exit
        return DfoptError(
            f"a process at work ended itself with code {code}; let code of your own raise an "
            "exception instead"
        )
    return DfoptError(
        f"a process at work ended with code {code}; take fewer workers (--workers 1), which need "
        "less memory"
    )


def main() -> None:
    """Do the tasks on standard input, as long as there are any."""
    # Whatever tasks and the libraries they call read or print is neither task nor answer.
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    threading.Thread(target=_end_with_parent, args=(tasks.fileno(),), daemon=True).start()
    with suppress(BrokenPipeError), tasks, answers:  # the parent may have gone
        while tasks.peek(1):
            answers.write(_answer(tasks))
            answers.flush()


def _end_with_parent(descriptor: int) -> None:
    """End this process as soon as nobody can send it tasks, even amid one."""
    hung_up = select.poll()
    hung_up.register(descriptor, 0)
    hung_up.poll()
    os._exit(0)


def _answer(tasks: io.BufferedReader) -> bytes:
    """Return what the next task gives, and the error if it fails, pickled."""
    try:
        try:
            return pickle.dumps((pickle.load(tasks).perform(), None))
        except DfoptError as error:
            return pickle.dumps((None, error))
    except BaseException as error:  # SystemExit too, since somebody waits for an answer
        traceback.print_exc()
        failure = DfoptError(
            f"a task failed with {type(error).__name__} ({error}); "
            "its traceback is on standard error"
        )
        return pickle.dumps((None, failure))


if __name__ == "__main__":
    main()
