"""Work in several processes of this machine, or wherever an executor of the caller does it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    as_completed,
)
from contextlib import contextmanager
from types import ModuleType
from typing import Protocol, TypeVar

from dfopt.errors import DfoptError

AnswerT = TypeVar("AnswerT")
AnswerT_co = TypeVar("AnswerT_co", covariant=True)


class Work(Protocol[AnswerT_co]):
    """A piece of work. It can be pickled, and so can its answer."""

    def perform(self) -> AnswerT_co:
        """Do it, and return the answer."""


def performed(
    tasks: Iterable[Work[AnswerT]], processes: int = 1, executor: Executor | None = None
) -> Generator[tuple[Work[AnswerT], AnswerT], None, None]:
    """Yield pieces of work with their answers as these come in.

    Parameters
    ----------
    tasks
        The work to do.
    processes
        The number of processes at work; one is this process itself, which does one task after the
        other.
    executor
        Does the work instead, such as ``Client.get_executor(pure=False)`` of Dask.

    Raises
    ------
    DfoptError
        When a piece of work raises one, a process ends without an answer, or the executor fails.
    """
    if executor is not None:
        futures = {executor.submit(task.perform): task for task in tasks}
        try:
            yield from _answers(futures, Exception, "the executor failed ({})")
        finally:
            for future in futures:
                future.cancel()
        return
    if processes > 1:
        tasks = list(tasks)
        processes = min(processes, len(tasks))
    if processes <= 1:
        for task in tasks:
            yield task, task.perform()
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, _begin)
    try:
        with _starting():
            futures = {pool.submit(task.perform): task for task in tasks}
            pool.submit(int)  # only now does the pool watch the process that was born last
        yield from _answers(
            futures,
            BrokenExecutor,
            "a process at work ended without an answer; take fewer workers, which need less memory "
            "(`workers=1`)",
        )
    finally:
        # If this ends early, for any reason, no caller waits for the work that is still going on.
        for child in list(pool._processes.values()):
            child.kill()
        pool.shutdown()


def _answers(
    futures: Mapping[Future[AnswerT], Work[AnswerT]], broken: type[Exception], problem: str
) -> Iterator[tuple[Work[AnswerT], AnswerT]]:
    for future in as_completed(futures):
        try:
            answer = future.result()
        except DfoptError:
            raise
        except broken as error:
            raise DfoptError(problem.format(f"{type(error).__name__}: {error}")) from error
        yield futures[future], answer


@contextmanager
def _starting() -> Iterator[None]:
    """Let processes that are born here run neither the caller's script nor its interrupts.

    A script without a guard does not survive being imported again. Interrupts are for the parent,
    which ends its children.
    """
    main = sys.modules["__main__"]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Prepare a process: it ends with its parent, and what it prints is no output of the parent."""
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(0)
