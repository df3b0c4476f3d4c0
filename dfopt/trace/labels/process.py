"""Labels from the process a thread belongs to: threads of one process share its memory."""

from __future__ import annotations

from dfopt.errors import FileError
from dfopt.trace.labels.kernel_threads import kernel_threads
from dfopt.trace.labels.relabelling import label_tasks
from dfopt.trace.trace import Trace


def label_by_process(trace: Trace) -> Trace:
    """Return a trace in which the fragment of each thread is its process (``tgid``).

    Threads of the kernel are not managed. Threads whose process is not known are not labelled.

    Raises
    ------
    FileError
        When the process of no thread is known.
    """
    if all(task.tgid is None for task in trace.tasks):
        raise FileError(
            "says of no thread which process it belongs to; record it (perf script -F "
            "comm,pid,tid,cpu,time,event,trace, or ftrace with options/record-tgid), or take "
            "the labels from a file, cgroup:FILE, comm:REGEX, marks or wakeups"
        )
    is_kernel = kernel_threads(trace)
    return label_tasks(
        trace,
        [
            None if task.tgid is None or kernel else str(task.tgid)
            for task, kernel in zip(trace.tasks, is_kernel.tolist(), strict=True)
        ],
    )
