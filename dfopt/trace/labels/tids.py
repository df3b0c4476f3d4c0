"""Which tasks of a trace are meant by what a file calls a ``tid``."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence

from dfopt.errors import DfoptWarning, FileError
from dfopt.trace.quality import counted
from dfopt.trace.trace import Trace


class Tids:
    """Finds tasks by the number of the thread, or by the name of one life of it.

    A number means every life of the thread, apart from those that are named too: ``12`` beside
    ``12.2`` means all lives but the second.

    Parameters
    ----------
    trace
        Whose tasks are meant.
    named
        All that the file names.
    """

    def __init__(self, trace: Trace, named: Iterable[str]) -> None:
        self._by_name = {task.name: number for number, task in enumerate(trace.tasks)}
        self._by_tid: defaultdict[str, list[int]] = defaultdict(list)
        named = set(named)
        for number, task in enumerate(trace.tasks):
            if task.tid is not None and not (task.name != str(task.tid) and task.name in named):
                self._by_tid[str(task.tid)].append(number)

    def tasks(self, tid: str) -> Sequence[int]:
        """Return the tasks that are meant; none if the trace does not have them."""
        if tid in self._by_tid:
            return self._by_tid[tid]
        return [self._by_name[tid]] if tid in self._by_name else []


def report_unknown(unknown: Sequence[tuple[int, str]], named: int, file: str) -> None:
    """Warn of lines whose thread the trace does not have; if it has none, that is an error.

    Parameters
    ----------
    unknown
        Line and ``tid``, in the order of the file.
    named
        How many lines there are in all.
    file
        The file as errors speak of it.

    Raises
    ------
    FileError
        When no thread is known.
    """
    if not unknown:
        return
    line, tid = unknown[0]
    if len(unknown) == named:
        raise FileError(
            f"none of the threads that it names is in the trace, the first is {tid}; name a file "
            "that was made for this trace",
            place=f"line {line}",
            file=file,
        )
    others = f", and {counted(len(unknown) - 1, 'more line')}" if len(unknown) > 1 else ""
    warnings.warn(
        f"{file}: line {line}: thread {tid} is not in the trace{others}",
        DfoptWarning,
        stacklevel=3,
    )
