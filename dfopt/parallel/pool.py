"""Work in several processes or threads, or wherever an executor of the caller does it."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any, Protocol, TypeVar

from dfopt.errors import DfoptError
from dfopt.parallel import available_processors

AnswerT = TypeVar("AnswerT")
AnswerT_co = TypeVar("AnswerT_co", covariant=True)


class Work(Protocol[AnswerT_co]):
    """A piece of work. It can be pickled, and so can its answer."""

    def perform(self) -> AnswerT_co:
        """Do it, and return the answer."""


def performed(
    tasks: Iterable[Work[AnswerT]],
    workers: int = 1,
    executor: Executor | None = None,
    *,
    in_threads: bool = False,
) -> Generator[tuple[Work[AnswerT], AnswerT], None, None]:
    """Yield pieces of work with their answers as these come in.

    Parameters
    ----------
    tasks
        The work to do.
    workers
        The number of processes or threads at work. One is this process itself, which does one task
        after the other.
    executor
        Does the work instead, such as ``Client.get_executor(pure=False)`` of Dask.
    in_threads
        Whether threads of this process are the workers. That is for work which the core does: it
        needs no second copy of what it works on.

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
    if workers > 1:
        tasks = list(tasks)
        workers = min(workers, len(tasks))
    if workers <= 1:
        for task in tasks:
            yield task, task.perform()
        return
    if in_threads:
        yield from _performed_by_threads(tasks, workers)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, _begin)
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


def answers_in_order(
    tasks: Sequence[Work[AnswerT]],
    processes: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    keep: Callable[[Any, AnswerT], AnswerT] | None = None,
) -> list[AnswerT | None]:
    """Return the answers to tasks, in the order of these; None for what Ctrl-C left undone.

    Parameters
    ----------
    tasks
        The work to do.
    processes
        How many are at work; by default one for each processor.
    on_progress
        Called with the number of tasks that are done, and of all.
    keep
        Called with a task and its answer as soon as this is there; returns what is kept of it.
    """
    answers: dict[int, AnswerT] = {}
    with suppress(KeyboardInterrupt):
        for task, answer in performed(tasks, processes or available_processors()):
            answers[id(task)] = answer if keep is None else keep(task, answer)
            if on_progress is not None:
                on_progress(len(answers), len(tasks))
    return [answers.get(id(task)) for task in tasks]


def _performed_by_threads(
    tasks: Iterable[Work[AnswerT]], threads: int
) -> Iterator[tuple[Work[AnswerT], AnswerT]]:
    pool = ThreadPoolExecutor(threads)
    at_work: set[int] = set()

    def perform(task: Work[AnswerT]) -> AnswerT:
        at_work.add(threading.get_ident())
        try:
            return task.perform()
        finally:
            at_work.discard(threading.get_ident())

    try:
        futures = {pool.submit(perform, task): task for task in tasks}
        yield from _answers(futures, BrokenExecutor, "a thread at work ended without an answer")
    finally:
        # If this ends early, an exception ends each thread as soon as the core gives it back.
        pool.shutdown(wait=False, cancel_futures=True)
        for thread in tuple(at_work):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread), ctypes.py_object(SystemExit)
            )


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
