"""Gaps beside dispatches: in which order they come, and what they tell of a trace."""

from __future__ import annotations

import numpy as np

from dfopt.trace.events import Integers, Numbers
from dfopt.trace.quality import Quality
from dfopt.trace.trace import BROKEN_CHAIN, CLOCK_WENT_BACK, LOST_EVENTS, Gaps, Trace


def stretches_in_order(trace: Trace) -> Integers:
    """Return the order in which dispatches and gaps come, each CPU's as they follow each other.

    Returns
    -------
    Integers
        Numbers of dispatches; those of the gaps come after them, so that the number n stands
        for the gap n - len(trace).
    """
    starts = np.concatenate([trace.start, trace.gaps.start])
    ends = np.concatenate([trace.end, trace.gaps.end])
    return np.lexsort((ends, starts))


def quality_of(*, cpus: int, cpu: Numbers, gaps: Gaps, lines: int) -> Quality:
    """Return the quality of a trace whose format has no words for it but gaps.

    Parameters
    ----------
    cpus
        Number of CPUs.
    cpu
        Where each dispatch ran.
    gaps
        Stretches about which nothing is known.
    lines
        Lines of the file.
    """
    counts = {reason: int((gaps.reason == n).sum()) for n, reason in enumerate(gaps.reasons)}
    seen = np.concatenate([cpu, gaps.cpu])
    return Quality(
        lines=lines,
        events=len(cpu),
        breaks=counts.get(BROKEN_CHAIN, 0),
        losses=counts.get(LOST_EVENTS, 0),
        clock_steps=counts.get(CLOCK_WENT_BACK, 0),
        silent_cpus=tuple(np.setdiff1d(np.arange(cpus), seen).tolist()),
    )
