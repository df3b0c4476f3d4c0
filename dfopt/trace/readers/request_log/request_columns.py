"""What the columns of a log of requests are called."""

from __future__ import annotations

from dataclasses import dataclass

from dfopt.errors import FileError


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestColumns:
    """The names of a log's columns; None for what the log does not have.

    Parameters
    ----------
    df
        The fragment, such as the model.
    task
        The name of the request; None: the number of its line. A name that comes again gets a
        number, as in ``chat.2``.
    arrival, start, end
        Points in time: when the request came, when its work began, and when it ended.
    duration
        How long its work took. With ``end`` it gives the start.
    queued
        How long it waited before its work began. With ``arrival`` it gives the start, with a start
        the arrival.
    cpu
        The CPU, such as the GPU, that served it.
    """

    df: str
    task: str | None = None
    arrival: str | None = None
    start: str | None = None
    end: str | None = None
    duration: str | None = None
    queued: str | None = None
    cpu: str | None = None

    def __post_init__(self) -> None:
        if self.start is not None and self.gives_starts_by_ends:
            raise FileError("of `start`, `end` and `duration` two are enough; leave out one")
        knows_starts = self.start is not None or self.gives_starts_by_ends
        if self.queued is not None and (self.arrival is None) != knows_starts:
            raise FileError(
                "`queued` goes with `arrival`, with `start`, or with `end` and `duration`; name "
                "one of these"
            )
        if not self.has_starts and (self.arrival is None or self.duration is None):
            raise FileError(
                "name the columns `start` and `end` or `duration`, `end` and `duration`, or "
                "`arrival` and `duration`"
            )
        if self.end is None and self.duration is None:
            raise FileError("name the column `end` or `duration`")
        if self.cpu is not None and not self.has_starts:
            raise FileError(
                "`cpu` needs `start`: without it nothing is known of the schedule; leave `cpu` "
                "out, or name the time in the queue with `queued`"
            )

    @property
    def has_starts(self) -> bool:
        """Whether the log says when work began."""
        return self.start is not None or self.queued is not None or self.gives_starts_by_ends

    @property
    def gives_starts_by_ends(self) -> bool:
        """Whether a start is an end less a duration."""
        return self.end is not None and self.duration is not None
