"""Which tasks are threads of the kernel, and so never use a fragment of their own accord."""

from __future__ import annotations

import re

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
"""How well-known threads of the kernel are called."""


def kernel_threads(trace: Trace) -> Flags:
    """Return for each task whether it is a thread of the kernel.

    It is thread 2, one that thread 2 has made, or one with a comm of :data:`KERNEL_COMM` that
    is not known to be a part of a larger process.
    """
    found = np.array([task.tid == KTHREADD for task in trace.tasks], bool)
    by_kthreadd = trace.forks.child[_is(found, trace.forks.parent)]
    found[by_kthreadd[by_kthreadd >= 0]] = True
    if trace.comm is not None:
        is_kernel = np.array([bool(KERNEL_COMM.fullmatch(comm)) for comm in trace.comms], bool)
        found[trace.task[_is(is_kernel, trace.comm)]] = True
    within_process = np.array([_is_within_process(task) for task in trace.tasks], bool)
    found &= ~within_process
    return found


def _is(flags: Flags, numbers: Numbers) -> Flags:
    """Return the flags of the numbers; False for -1."""
    found: Flags = np.append(flags, False)[numbers]
    return found


def _is_within_process(task: TraceTask) -> bool:
    """Whether a task is known to be a thread that did not begin its process."""
    return task.tgid is not None and task.tid != task.tgid
