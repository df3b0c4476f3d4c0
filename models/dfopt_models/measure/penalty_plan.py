"""A measurement of penalties on the machine at hand: what is asked for, and a run of it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dfopt_models.measure.machine import MOVED, MeasurementError
from dfopt_models.measure.penalty_runs import (
    PenaltyOfRun,
    kernel_run,
    program_run,
    switch_time,
)
from dfopt_models.measure.programs import ThisHost
from dfopt_models.measure.slices import Interventions
from dfopt_models.measure.this_processor import KERNELS, ThisProcessor

QUANTA_OF_KERNELS, QUANTA_OF_PROGRAMS = (0.002, 0.005, 0.02), (0.025,)
"""Seconds; a program's slices begin and end by signals, which take longer."""

JOBS, OTHER = ("chase", "product", "stream"), "stream"
"""The kernels that are measured by default, and the one that runs in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PenaltyPlan:
    """What is to be measured.

    Parameters
    ----------
    commands
        Command lines of programs by their names. Where there are none, kernels are measured.
    kernels
        Kernels, by default three.
    others
        Jobs that run in between; by default all programs, or the kernel ``stream``.
    quanta
        Seconds of slices.
    without_affinity
        ``"moved"`` or a level; by default a move, where there is another CPU, or else memory.
    slices
        Slices of kernels that must count, and passes of what is measured besides.

    Raises
    ------
    MeasurementError
        When something is not there, or the wishes do not go together.
    """

    commands: Mapping[str, str] = field(default_factory=dict)
    kernels: Sequence[str] = ()
    others: Sequence[str] = ()
    quanta: Sequence[float] = ()
    without_affinity: str | None = None
    slices: int = 25

    def __post_init__(self) -> None:
        if self.commands and self.kernels:
            raise MeasurementError("measure programs and kernels one after the other")
        known = tuple(self.commands or KERNELS)
        for name in (*self.kernels, *self.others):
            if name not in known:
                nearest = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
                raise MeasurementError(
                    f"there is no job {name!r}; known are {', '.join(known)}{hint}"
                )
        for quantum in self.quanta:
            if not 0 < quantum < float("inf"):
                raise MeasurementError(f"a quantum must be more than 0 seconds, not {quantum:g}")


def run_here(
    plan: PenaltyPlan, *, seed: int = 0, progress: Callable[[str], None] | None = None
) -> tuple[list[PenaltyOfRun], float]:
    """Return the penalties of one run on this machine, and the seconds that a switch takes.

    Parameters
    ----------
    plan
        What is measured.
    seed
        Of random orders.
    progress
        Called with what is measured next.

    Raises
    ------
    MeasurementError
        When something cannot be measured, or not be trusted.
    """
    processor = ThisProcessor(seed=seed)
    try:
        interventions = Interventions(
            without_affinity=plan.without_affinity
            or (MOVED if processor.has_other_cpu else processor.levels[-1].name),
            others=tuple(dict.fromkeys(plan.others or plan.commands or (OTHER,))),
        )
        time = switch_time(processor, passes=plan.slices)
        if plan.commands:
            penalties = program_run(
                ThisHost(processor, plan.commands),
                processor,
                jobs=tuple(plan.commands),
                quanta=sorted(set(plan.quanta or QUANTA_OF_PROGRAMS)),
                interventions=interventions,
                passes=plan.slices,
                progress=progress,
            )
        else:
            penalties = kernel_run(
                processor,
                jobs=tuple(dict.fromkeys(plan.kernels or JOBS)),
                quanta=sorted(set(plan.quanta or QUANTA_OF_KERNELS)),
                interventions=interventions,
                slices=plan.slices,
                seed=seed,
                progress=progress,
            )
    finally:
        processor.close()
    return penalties, time
