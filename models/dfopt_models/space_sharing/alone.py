"""An application alone on the machine: how many of its threads run, and for how long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dfopt.structs import Record
from dfopt.table import Table, TableColumn, columns, table_of
from dfopt_models.space_sharing.mix import Mix
from dfopt_models.space_sharing.programs import time_at_levels


class Profile(Record):
    """What an application does with processors that are all its own.

    These are the figures that Vaswani and Zahorjan show of their applications (Figures 2 to 4).

    Parameters
    ----------
    application
        Its name.
    shares
        The share of the elapsed time in which 1, 2, … processors run its threads, up to all.
    elapsed
        Seconds from its first thread to its end.
    demand
        Average number of processors that run its threads: the work over the elapsed time.
    """

    application: str
    shares: tuple[float, ...]
    elapsed: float
    demand: float


def profiles(mix: Mix, *, seeds: Iterable[int] = range(1)) -> tuple[Profile, ...]:
    """Run each application of a mix alone on its machine, where nothing is reallocated.

    Parameters
    ----------
    mix
        Gives the applications and the number of processors.
    seeds
        Seeds of the threads' work; all times are means over them.
    """
    runs = list(seeds)
    processors = mix.machine.processors
    found = []
    for one in {entry.application.name: entry.application for entry in mix.jobs}.values():
        levels = [time_at_levels(one.structure.program(seed), processors) for seed in runs]
        times = [sum(time) / len(runs) for time in zip(*levels, strict=True)]
        elapsed = sum(times)
        shares = tuple(time / elapsed for time in times)
        demand = sum(running * share for running, share in enumerate(shares, start=1))
        found.append(Profile(application=one.name, shares=shares, elapsed=elapsed, demand=demand))
    return tuple(found)


def profile_tables(profiles: Sequence[Profile]) -> list[Table]:
    """Return what applications do alone: elapsed time, demand, and shares by processors."""
    levels = zip(*(one.shares for one in profiles), strict=True)
    applications = (TableColumn(one.application, format=".1%") for one in profiles)
    return [
        table_of(
            "alone",
            profiles,
            {
                "application": "application",
                "elapsed": "elapsed [s] :,.2f",
                "demand": "average demand :.2f",
            },
        ),
        Table(
            "share of the time in which this number of processors runs its threads",
            (*columns("processors"), *applications),
            [(level, *shares) for level, shares in enumerate(levels, start=1)],
        ),
    ]
