"""The lines of a ``dfopt-trace/1``: what its header says, and what may stand on those after it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptError, FileError
from dfopt.files.strict_json import parse_document
from dfopt.problem.cache_state import Leaves
from dfopt.problem.instance import CpuCount
from dfopt.structs import DocumentPart, Natural, Positive
from dfopt.trace.trace import TraceHeader
from dfopt.type_reader import reader

Ends = Annotated[tuple[Natural, Natural], Meta(extra={"is": "an array [start, end]"})]


class HeaderLine(TraceHeader):
    """What ran where and when, as JSON Lines: the first line says what holds for all others.

    Every line after it is as one of the other parts of this schema says.

    Parameters
    ----------
    cpus
        Number of CPUs; they are numbered from 0.
    """

    cpus: CpuCount


class DispatchLine(DocumentPart):
    """A task that ran on a CPU from start to end.

    Parameters
    ----------
    cpu
        The CPU.
    start, end
        When it began to run, and when it ran no longer, in the unit of the header.
    task
        Its name.
    df
        The fragment it used; null if it is not managed, or not known.
    lines
        Lines it reads when it finds another fragment in the cache (penalty f).
    leaves
        The state in which it leaves its fragment (penalty f).
    stop
        Why it ran no longer: it sleeps, others come first, or it ends.
    comm
        What its program is called.
    """

    cpu: Natural
    start: Natural
    end: Natural
    task: str
    df: str | None
    lines: Natural | UnsetType = UNSET
    leaves: Leaves | UnsetType = UNSET
    stop: Literal["sleeps", "preempted", "ends"] | UnsetType = UNSET
    comm: str | UnsetType = UNSET


class FirstWakeupLine(DocumentPart):
    """A new task is ready for the first time.

    Parameters
    ----------
    first_wakeup
        When.
    task, waker
        The task, and the one that woke it; without it, it was an interrupt.
    """

    first_wakeup: Natural
    task: str
    waker: str | UnsetType = UNSET


class ForkLine(DocumentPart):
    """A task is made by another one.

    Parameters
    ----------
    fork
        When.
    task, parent
        The new task, and the one that made it.
    """

    fork: Natural
    task: str
    parent: str


class GapLine(DocumentPart):
    """A time of a CPU about which nothing is known.

    Parameters
    ----------
    cpu
        The CPU.
    gap
        Its start and its end.
    reason
        Such as ``"lost events"``.
    task
        The task that ran last in it.
    """

    cpu: Natural
    gap: Ends
    reason: str
    task: str | UnsetType = UNSET


class WeightLine(DocumentPart):
    """A task whose share of a CPU is not the usual one.

    Parameters
    ----------
    task
        The task.
    weight
        Its share, where 1024 is the usual one.
    """

    task: str
    weight: Positive


class WakeupLine(DocumentPart):
    """A task is woken by another one.

    Parameters
    ----------
    wakeup
        When.
    task, waker
        The task, and the one that woke it; without it, it was an interrupt.
    """

    wakeup: Natural
    task: str
    waker: str | UnsetType = UNSET


KINDS: dict[str, type[DocumentPart]] = {
    "start": DispatchLine,
    "first_wakeup": FirstWakeupLine,
    "fork": ForkLine,
    "gap": GapLine,
    "weight": WeightLine,
    "wakeup": WakeupLine,
}
"""What stands on a line, by the key that tells; dispatches have all lines without such a key."""

EVENTS = ("first_wakeup", "fork", "wakeup")
"""The kinds that are events: what stands under this key is their time."""


def parsed_line(line: bytes, number: int) -> dict[str, object]:
    """Return the object on a line."""
    place = f"line {number}"
    if b"\0" in line:
        raise FileError("is a binary file; name one that holds a trace", place=place)
    try:
        return parse_document(line.decode("utf-8").rstrip())
    except UnicodeDecodeError:
        raise FileError("is not UTF-8 text; save it as UTF-8", place=place) from None
    except FileError as error:
        # The parser counts lines too, but it is given a single one.
        inner = error.place.removeprefix("line 1, ")
        raise FileError(error.problem, place=f"{place}, {inner}" if inner else place) from None


def on_line(number: int, error: DfoptError) -> FileError:
    """Return an error about a field of the object on a line."""
    if error.place.startswith("line "):
        return FileError(error.problem, place=error.place)
    place = f"line {number}"
    return FileError(error.problem, place=f"{place}, {error.place}" if error.place else place)


def checked_line(line: bytes, number: int, cpus: int) -> DocumentPart:
    """Return what stands on a line, checked by itself.

    Parameters
    ----------
    line, number
        The line and its number, counted from 1.
    cpus
        The number of CPUs that the header declares.

    Raises
    ------
    FileError
        With line and remedy, when nothing that may stand on a line looks so.
    """
    document = parsed_line(line, number)
    telling = ("gap",) if "cpu" in document else KINDS
    kind = next((key for key in telling if key in document), "start")
    try:
        row: DocumentPart = reader(KINDS[kind])(document)
        check_row(row, cpus)
    except DfoptError as error:
        raise on_line(number, error) from None
    return row


def check_row(row: DocumentPart, cpus: int) -> None:
    """Refuse an end before its start, and a CPU that the header does not declare."""
    start, end, place = 0, LARGEST_TOTAL, ""
    match row:
        case GapLine(gap=(start, end)):
            place = "gap[1]"
        case DispatchLine(start=start, end=end):
            place = "end"
    if end < start:
        raise FileError(f"is {end}, before the start at {start}; swap them", place=place)
    cpu = getattr(row, "cpu", 0)
    if cpu >= cpus:
        raise FileError(
            f"is {cpu}, but the header declares {cpus} CPUs, numbered from 0; correct one of them",
            place="cpu",
        )
