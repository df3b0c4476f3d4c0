"""The tasks that are threads of the kernel; they use no fragment of a program."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from dfopt.trace.events import Flags, Numbers
from dfopt.trace.trace import Trace, TraceTask

KTHREADD = 2
"""The kernel thread that makes all others."""

KERNEL_COMM = re.compile(
    r"""
    # one for each CPU, or for several
    (?:cpuhp|migration|ksoftirqd|idle_inject|ktimers|watchdog|stopper|irq_work|backlog_napi)/\d+
    | kworker/.+
    | rcu_\w+ | rcu(?:b|c|og|op|ob|os)/\d+
    | irq/\d+-.*
    # memory and disks
    | kswapd\d+ | kcompactd\d+ | khugepaged | ksmd | oom_reaper | kvfree_rcu_recl.*
    | jbd2/\S+ | ext4-\S+ | xfs(?:aild|-\S+)/\S+ | btrfs-\S+ | kblockd | kintegrityd | writeback
    | scsi_eh_\d+ | scsi_tmf_\d+ | md\d+_\w+ | kdmflush(?:/\S+)? | loop\d+ | nvme\S*-wq
    # the rest
    | kthreadd | pool_workqueue_.* | kauditd | khungtaskd | kdevtmpfs | kthrotld | watchdogd
    | kstrp | netns | mm_percpu_wq | inet_frag_wq | hwrng | psimon | kgdb\S* | napi/\S+
    """,
    re.VERBOSE,
)
"""The comms of well-known threads of the kernel."""

OF_ONE_CPU = re.compile(
    r"(?:cpuhp|migration|ksoftirqd|idle_inject|ktimers|watchdog|stopper|irq_work|rcuc)/\d+"
    r"|kworker/\d+:.+"
)
"""The comms of threads of the kernel that run on one CPU only."""


def kernel_threads(trace: Trace) -> Flags:
    """Return for each task whether it is a thread of the kernel.

    It is thread 2, a thread that thread 2 has made, or a thread with a comm of :data:`KERNEL_COMM`.
    Programs may have such comms, too. So a comm does not count where the trace says that a program
    made the thread, or that the thread shares its process with others.
    """
    parent, child = trace.forks.parent, trace.forks.child
    by_number = np.array([task.tid == KTHREADD for task in trace.tasks], bool)
    by_comm = _with_comm(trace, KERNEL_COMM)
    # Children of other kernel threads are helpers that the kernel starts; they are rare and short.
    made_by_program = child[(parent >= 0) & ~_is(by_number | by_comm, parent)]
    by_comm[made_by_program[made_by_program >= 0]] = False
    made_by_kthreadd = child[_is(by_number, parent)]
    by_number[made_by_kthreadd[made_by_kthreadd >= 0]] = True
    return (by_number | by_comm) & ~_shares_process(trace.tasks)


def bound_kernel_threads(trace: Trace) -> Flags:
    """Return for each task whether it is a thread of the kernel that runs on one CPU only."""
    return _with_comm(trace, OF_ONE_CPU) & kernel_threads(trace)


def _with_comm(trace: Trace, pattern: re.Pattern[str]) -> Flags:
    """Return for each task whether it has such a comm in any dispatch."""
    found = np.zeros(len(trace.tasks), bool)
    if trace.comm is not None:
        fits = np.array([bool(pattern.fullmatch(comm)) for comm in trace.comms], bool)
        found[trace.task[_is(fits, trace.comm)]] = True
    return found


def _is(flags: Flags, numbers: Numbers) -> Flags:
    """Return the flags of the numbers; False for -1."""
    found: Flags = np.append(flags, False)[numbers]
    return found


def _shares_process(tasks: Sequence[TraceTask]) -> Flags:
    """Return which tasks are known to be threads of a process that has others, too."""
    larger = {task.tgid for task in tasks if task.tgid is not None and task.tid != task.tgid}
    return np.array([task.tgid in larger for task in tasks], bool)
