"""Work in other processes of this machine: in a few that share it, or each piece in its own.

Not :mod:`multiprocessing`: its children import the caller's main module again, which a script
without a guard does not survive, and a Dask worker may have no children of that kind.
"""

from __future__ import annotations

import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, TypeVar

from dfopt.errors import DfoptError
from dfopt.parallel.child import Work
from dfopt.parallel.notices import Notice, notify

CHILD = "dfopt.parallel.child"
LONGEST_MESSAGE = 500
AnswerT = TypeVar("AnswerT")


class ChildError(Exception):
    """A process ended without an answer; the message says how."""


def performed(
    tasks: Sequence[Work[AnswerT]], processes: int
) -> Generator[tuple[Work[AnswerT], AnswerT], None, None]:
    """Yield pieces of work with their answers as these come in.

    Parameters
    ----------
    tasks
        The work to do.
    processes
        The number of processes at work; one is this process itself.

    Raises
    ------
    DfoptError
        When a piece of work raises one, or a process ends without an answer. What raises
        anything else in another process leaves its traceback on standard error.
    """
    processes = min(processes, len(tasks))
    if processes <= 1:
        for task in tasks:
            yield task, task.perform()
        return
    waiting: queue.SimpleQueue[Work[AnswerT]] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    answers: queue.SimpleQueue[tuple[Work[AnswerT], Any, Exception | None]] = queue.SimpleQueue()
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
        # If this ends early, for any reason, no caller waits for the work that is still going on.
        for child in children:
            child.kill()
        for child in children:
            child.wait()


def performed_alone(task: Work[AnswerT], *, seconds: float | None = None) -> AnswerT:
    """Return the answer of a new process that does this one piece of work.

    Parameters
    ----------
    task
        The work to do.
    seconds
        Seconds after which the process is killed; None: never.

    Raises
    ------
    ChildError
        When there is no answer.
    """
    killed = threading.Event()
    with tempfile.TemporaryFile() as complaints, _child(complaints) as child:
        assert child.stdin is not None
        assert child.stdout is not None

        def kill() -> None:
            killed.set()
            child.kill()

        timer = threading.Timer(seconds, kill) if seconds is not None else None
        try:
            if timer:
                timer.start()
            pickle.dump(task, child.stdin)
            child.stdin.flush()
            answer, error = _answer_in(child.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            code = child.wait()
            if killed.is_set():
                raise ChildError(f"killed: no answer after {seconds:.0f} s") from None
            raise ChildError(_end(code, complaints)) from None
        finally:
            if timer:
                timer.cancel()
            child.kill()
        if error is not None:
            raise ChildError(_last_line(complaints) or str(error))
    return answer  # type: ignore[no-any-return]


def _child(complaints: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", CHILD]
    with _without_interrupts():
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints
        )


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block the signals that ask a process to end; a child that is born here blocks them too.

    They are for the parent, which ends its children.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _feed(
    child: subprocess.Popen[bytes],
    waiting: queue.SimpleQueue[Any],
    answers: queue.SimpleQueue[tuple[Any, Any, Exception | None]],
) -> None:
    """Give a child one piece of work after another until there is no more."""
    assert child.stdin is not None
    assert child.stdout is not None
    # What a killed child has not read cannot be written any more when its pipe is closed.
    with suppress(BrokenPipeError), child.stdin, child.stdout:
        while True:
            try:
                task = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                pickle.dump(task, child.stdin)
                child.stdin.flush()
                answer, error = _answer_in(child.stdout)
            # It has ended, perhaps in the middle of an answer: by a defect, or it was killed.
            except (OSError, EOFError, pickle.UnpicklingError):
                answers.put((task, None, _ended(child.wait())))
                return
            except Exception as raised:  # the caller waits for an answer
                answers.put((task, None, raised))
                return
            answers.put((task, answer, error))


def _answer_in(messages: IO[bytes]) -> tuple[Any, Exception | None]:
    """Return the next answer of a child, and the error; pass on the notices before it."""
    while isinstance(message := pickle.load(messages), Notice):
        notify(message.text)
    answer: tuple[Any, Exception | None] = message
    return answer


def _ended(code: int) -> DfoptError:
    if code > 0:  # no signal: something called os._exit
        return DfoptError(
            f"a process at work ended itself with code {code}; let code of your own raise an "
            "exception instead"
        )
    return DfoptError(
        f"a process at work ended with code {code}; take fewer workers, which need less memory "
        "(`workers=1`)"
    )


def _end(code: int, complaints: IO[bytes]) -> str:
    """Return how a process ended, from its exit code and what it wrote to standard error."""
    if code < 0:
        name = signal.Signals(-code).name
        return f"ended by {name}" + ("; was there enough memory?" if name == "SIGKILL" else "")
    return (code and _last_line(complaints)) or f"ended with exit code {code}"


def _last_line(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    lines = [line.strip() for line in complaints.read().decode(errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "")[:LONGEST_MESSAGE]
