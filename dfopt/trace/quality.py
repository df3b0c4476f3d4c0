"""How far a trace can be trusted: what was missing, lost or not understood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from dfopt.render import counted
from dfopt.structs import DocumentPart, Natural, Share

NOT_REPORTED = (
    "no loss is recorded, so the kernel did not report them (as the first ones to new threads); "
    "if they are many, record with a larger buffer"
)
"""Why switches are missing where the recording does not say that events were lost."""


class Quality(DocumentPart, omit_defaults=False):
    """The numbers of lines and events of a trace that were read, lost or not understood.

    Parameters
    ----------
    lines
        Lines of the file, or packets.
    unparsed
        Lines that could not be understood.
    first_unparsed
        Number of the first of these lines, counted from 1; None if there is none.
    events
        Switches that were read, or dispatches where a format has no switches.
    breaks
        Broken chains: a CPU switches to one thread, and then from another one, so that a switch
        is missing.
    losses
        Number of records that say that events were lost.
    lost_events
        Number of events that these records count.
    overwritten
        Events that were overwritten by later ones before the trace was read.
    clock_steps
        Number of times that a CPU's clock went back.
    silent_cpus
        CPUs without any event, below the number of CPUs that the file declares or shows.
    """

    DERIVED = ("warnings",)

    lines: Natural = 0
    unparsed: Natural = 0
    first_unparsed: Natural | None = None
    events: Natural = 0
    breaks: Natural = 0
    losses: Natural = 0
    lost_events: Natural = 0
    overwritten: Natural = 0
    clock_steps: Natural = 0
    silent_cpus: tuple[Natural, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings that a user needs before trusting figures from this trace, a line each."""
        found = []
        if self.unparsed == 1 and self.first_unparsed == self.lines:
            found.append(
                "the end of the file could not be understood; it may have been cut short, copy it "
                "again"
            )
        elif self.unparsed:
            found.append(
                f"{counted(self.unparsed, 'line')} could not be understood, the first is line "
                f"{self.first_unparsed}"
            )
        if self.breaks:
            lost = self.losses or self.overwritten
            found.append(
                f"{counted(self.breaks, 'broken chain')}: at least as many switches are missing; "
                + ("events were lost" if lost else NOT_REPORTED)
            )
        if self.losses:
            events = counted(self.lost_events, "event") if self.lost_events else "events"
            found.append(
                f"{events} lost at {counted(self.losses, 'place')}; record with a larger buffer"
            )
        if self.overwritten:
            found.append(
                f"{counted(self.overwritten, 'event')} overwritten by later ones, so CPUs begin at "
                "different times; record with a larger buffer"
            )
        if self.clock_steps:
            found.append(f"the clock of a CPU went back {counted(self.clock_steps, 'time')}")
        if self.silent_cpus:
            names = ", ".join(_ranges(self.silent_cpus))
            found.append(f"no event on CPU {names}: idle all the time, or not recorded")
        return tuple(found)


class LabelledQuality(Quality, omit_defaults=False):
    """How far a trace with fragments can be trusted.

    Parameters
    ----------
    unlabelled_share
        Share of the run time without a fragment.
    """

    unlabelled_share: Share


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    """Yield ascending numbers as text, consecutive ones as a range such as ``2-5``."""
    for _, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        (_, first), *others = group
        yield f"{first}-{others[-1][1]}" if others else str(first)
