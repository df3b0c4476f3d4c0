"""Contention as a whole: locks, scans, free buffers, a third band, and what was measured.

The measurements of Sohn and Kim, sections V and VI, by queueing theory. A parameter is either given
or fitted to a measurement. What was measured stands beside what the laws say.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta, field

from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.structs import Checked, DocumentPart, Natural, Positive, Share, replace
from dfopt.table import Table, Value, columns, facts, table_of
from dfopt_models.contention import equations
from dfopt_models.contention.locks import (
    MOST_CPUS,
    Contention,
    Holds,
    SpinLocks,
    bisect,
    buffer_hold_for,
    contention,
    mean_slope,
    own_lock_first,
    think_for,
    with_buffers,
)
from dfopt_models.contention.scans import (
    Borrowing,
    borrowing,
    expected_looks,
    look_time,
    third_band,
)
from dfopt_models.errors import ModelError
from dfopt_models.model import AnalyticModel, Sourced

LEAST, MOST = 2.0**-62, 2.0**62
"""Times are from the first to the second, so that no ratio of them overflows."""

LOADS = (1e-6, 1 - 1e-9)
"""Between these a load is looked for."""

Time = Annotated[float, Meta(ge=LEAST, le=MOST)]
CpuCount = Annotated[int, Meta(ge=1, le=MOST_CPUS)]


class FittedMisses(Checked):
    """A share of misses that a parameter is fitted to.

    Parameters
    ----------
    misses
        Share of the attempts that find the one lock taken.
    cpus
        Of how many CPUs.
    """

    misses: float
    cpus: Natural


class FittedSlope(Checked):
    """A mean slope of work, with one list of free buffers, that a parameter is fitted to."""

    slope: float


class FittedSlowdown(Checked):
    """The time of a switch with a scan in vain that a parameter is fitted to.

    Parameters
    ----------
    slowdown
        Relative to a switch without that scan.
    cpus
        On how many CPUs.
    """

    slowdown: float
    cpus: Positive


class FittedRatio(Checked):
    """The relative time of a cycle that a parameter is fitted to."""

    ratio: float


class Lock(Sourced):
    """The lock of the ready queue, or of each ready queue.

    Parameters
    ----------
    hold
        Mean time for which it is held.
    think
        Mean time that a CPU computes between two uses; left out if it is fitted.
    holds
        How hold times vary.
    fitted
        To what the think time is fitted.
    """

    hold: Time = 1.0
    think: Time | None = None
    holds: Holds = Holds.EXPONENTIAL
    fitted: FittedMisses | None = None

    def __post_init__(self) -> None:
        """Check that the think time is known."""
        super().__post_init__()
        _given_or_fitted(self, "think")


class Buffers(Sourced):
    """Free buffers, behind one lock or a lock for each CPU.

    Parameters
    ----------
    hold
        For which the lock is held in each round; left out if it is fitted.
    each
        Buffers of each CPU; with ``used`` it says how often CPUs borrow.
    used
        How many a CPU would use on average.
    cpus
        Larger machines, which the table shows.
    fitted
        To what the hold time is fitted.
    """

    hold: Time | None = None
    each: Natural | None = None
    used: Time | None = None
    cpus: Annotated[tuple[CpuCount, ...], Meta(max_length=64)] = ()
    fitted: FittedSlope | None = None

    def __post_init__(self) -> None:
        """Check that the hold time is known."""
        super().__post_init__()
        _given_or_fitted(self, "hold")
        if (self.each is None) != (self.used is None):
            raise ModelError("each and used belong together; give both")
        _check_rising(self.cpus)


class Scans(Sourced):
    """Scans of all queues, each with a wider range.

    Parameters
    ----------
    chances
        By scan: how likely a queue has a thread of its range.
    look
        Time to look at one queue, in switches; left out if it is fitted.
    fitted
        To what the look is fitted.
    """

    chances: tuple[float, ...]
    look: float | None = None
    fitted: FittedSlowdown | None = None

    def __post_init__(self) -> None:
        """Check that chances are some, and that a look takes some time."""
        super().__post_init__()
        _given_or_fitted(self, "look")
        expected_looks(self.chances, 1)
        if not 0 <= self.look_time <= MOST:
            raise ModelError(
                f"a look must take from 0 to 2^62 switches, not {self.look_time:g}",
            )

    @property
    def look_time(self) -> float:
        """What one look takes, in switches."""
        if self.look is not None:
            return self.look
        assert self.fitted is not None
        return look_time(self.fitted.slowdown, self.fitted.cpus)


class ThirdBand(Sourced):
    """A band of its own for threads that a disk woke up.

    Parameters
    ----------
    cpus
        How many CPUs there are.
    first
        Which share of the load it is.
    rest
        The rest of a thread's cycle beside its wait for a CPU, in services.
    load
        Which share of the time CPUs are busy; left out if it is fitted.
    fitted
        To what the load is fitted.
    """

    cpus: CpuCount
    first: float
    rest: float
    load: float | None = None
    fitted: FittedRatio | None = None

    def __post_init__(self) -> None:
        """Check that the load is known, and can be."""
        super().__post_init__()
        _given_or_fitted(self, "load")
        third_band(self.cpus, 0.5 if self.load is None else self.load, self.first, self.rest)
        assert self.busy is not None

    @property
    def busy(self) -> float:
        """The load, given or fitted."""
        if self.load is not None:
            return self.load
        assert self.fitted is not None
        return bisect(
            lambda load: third_band(self.cpus, load, self.first, self.rest),
            *(self.fitted.ratio, LOADS, "fitted"),
        )

    @property
    def relative(self) -> float:
        """The time of a cycle with the band, relative to that without."""
        return third_band(self.cpus, self.busy, self.first, self.rest)


class Measurement(StrEnum):
    """What was measured and a law says something about."""

    MISSES = "misses"
    """Share of the attempts that find the one lock taken."""

    MISSES_OWN = "misses-own-locks"
    """The same with a lock for each CPU."""

    SPINNING = "spinning"
    """Share of the CPUs that waits for the one lock."""

    GAIN = "gain"
    """How much more is done with a lock for each CPU."""

    SLOPE = "slope-own-lists"
    """Work that a further CPU adds, with a lock and a list of free buffers for each CPU."""

    SLOPE_ONE_LIST = "slope-one-list"
    """The same with one list of free buffers for all CPUs."""

    THIRD_SCAN = "third-scan"
    """Time of a switch with a further scan in vain, relative to that without."""

    THIRD_BAND = "third-band"
    """Time of a cycle with a band of its own, relative to that without."""


PARTS = {
    Measurement.SLOPE_ONE_LIST: ("buffers", "slope"),
    Measurement.THIRD_SCAN: ("scans", "slowdown"),
    Measurement.THIRD_BAND: ("third_band", "ratio"),
}
"""The part of a model that a measurement needs, and the name that it has there if it is fitted."""


class Published(Checked):
    """A measured value.

    Parameters
    ----------
    what
        What was measured.
    value
        The value.
    cpus
        The number of CPUs, where that matters.
    source
        Where the value is from.
    """

    what: Measurement
    value: float
    cpus: Natural | None = None
    source: str = ""


class ContentionModel(Checked):
    """CPUs that contend for the ready queue and for free buffers.

    Parameters
    ----------
    name
        What it is called; the file's name if it is left out.
    cpus
        Numbers of CPUs, rising.
    lock
        The lock of the ready queue.
    spreads
        Shares of the uses that choose among all locks, which the table of own locks shows.
    buffers, scans, third_band
        A further part.
    published
        Measured values.
    """

    name: str = "model"
    cpus: Annotated[tuple[CpuCount, ...], Meta(min_length=1, max_length=64)]
    lock: Lock
    spreads: tuple[Share, ...] = (1.0, 0.5, 0.2, 0.1)
    buffers: Buffers | None = None
    scans: Scans | None = None
    third_band: ThirdBand | None = None
    published: tuple[Published, ...] = ()

    def __post_init__(self) -> None:
        """Check that parts fit together, and that measurements can be compared."""
        super().__post_init__()
        _within("cpus", lambda: _check_rising(self.cpus))
        _within("lock", self.think)
        if self.buffers is not None:
            if self.buffers.fitted is not None and len(self.cpus) == 1:
                raise ModelError(
                    "a slope needs at least two numbers of CPUs; add one", place="cpus"
                )
            _within("buffers", self.buffer_hold)
            _within("buffers", lambda: self.borrowing(self.cpus[-1]))
        for number, each in enumerate(self.published):
            _within(f"published[{number}]", lambda each=each: self.says(each, self.lock.holds))  # type: ignore[misc]

    @property
    def assumed(self) -> tuple[str, ...]:
        """The parameters that are assumptions, with their tables."""
        return tuple(
            f"{table}.{name}"
            for table in ("lock", "buffers", "scans", "third_band")
            if (part := getattr(self, table)) is not None
            for name in part.assumed
        )

    @property
    def knee(self) -> float:
        """The number of CPUs at which the one lock would be held all the time without waits."""
        return float(equations.knee(self.think(), self.lock.hold))

    def think(self, holds: Holds | None = None) -> float:
        """Return the time between two uses, given or fitted, for hold times of a sort."""
        lock = self.lock
        if lock.think is not None:
            return lock.think
        assert lock.fitted is not None
        return think_for(lock.fitted.misses, lock.fitted.cpus, lock.hold, holds or lock.holds)

    def one_lock(self, cpus: int, holds: Holds | None = None) -> Contention:
        """Return what CPUs do that share one lock."""
        return self._locks(cpus, 1, holds)

    def own_locks(self, cpus: int, holds: Holds | None = None) -> Contention:
        """Return what CPUs do with a lock for each of them, all used alike."""
        return self._locks(cpus, cpus, holds)

    def gain(self, cpus: int, holds: Holds | None = None) -> float:
        """Return how many times as much is done with a lock for each CPU as with one."""
        return self.own_locks(cpus, holds).uses / self.one_lock(cpus, holds).uses

    def spread(self, cpus: int, spread: float) -> Contention:
        """Return what CPUs do that choose among all locks in a share of their uses."""
        return own_lock_first(cpus, self.think(Holds.EXPONENTIAL), self.lock.hold, spread)

    def buffer_hold(self, holds: Holds | None = None) -> float:
        """Return the hold time of the list of free buffers, given or fitted."""
        assert self.buffers is not None
        if self.buffers.hold is not None:
            return self.buffers.hold
        assert self.buffers.fitted is not None
        law = holds or self.lock.holds
        slope = self.buffers.fitted.slope
        return buffer_hold_for(slope, self.cpus, self.think(law), self.lock.hold, law)

    def with_buffers(self, cpus: int, *, split: bool, holds: Holds | None = None) -> Contention:
        """Return what CPUs do that use free buffers too, from one list or from their own."""
        law = holds or self.lock.holds
        return with_buffers(
            cpus, self.think(law), self.lock.hold, self.buffer_hold(law), split=split, holds=law
        )

    def borrowing(self, cpus: int) -> Borrowing | None:
        """Return how often a CPU borrows a buffer; None if nothing is said about buffers."""
        buffers = self.buffers
        if buffers is None or buffers.each is None or buffers.used is None:
            return None
        return borrowing(cpus, buffers.each, buffers.used)

    def says(self, published: Published, holds: Holds) -> float:
        """Return what the model says of something measured.

        Raises
        ------
        ModelError
            When a part or a number of CPUs is missing that this needs.
        """
        what = published.what
        part, _ = PARTS.get(what, ("lock", ""))
        if getattr(self, part) is None:
            raise ModelError(f"needs the table [{part}]; add it", place="what")
        if what in {Measurement.SLOPE, Measurement.SLOPE_ONE_LIST}:
            return self._slope(holds, split=what is Measurement.SLOPE)
        if what is Measurement.THIRD_BAND:
            assert self.third_band is not None
            return self.third_band.relative
        if published.cpus is None:
            raise ModelError("is missing; say of how many CPUs", place="cpus")
        if not 1 <= published.cpus <= MOST_CPUS:
            raise ModelError(f"must be from 1 to {MOST_CPUS}, not {published.cpus}", place="cpus")
        return self._says_of(what, published.cpus, holds)

    def _says_of(self, what: Measurement, cpus: int, holds: Holds) -> float:
        match what:
            case Measurement.MISSES:
                return self.one_lock(cpus, holds).miss
            case Measurement.MISSES_OWN:
                return self.own_locks(cpus, holds).miss
            case Measurement.SPINNING:
                return self.one_lock(cpus, holds).spinning
            case Measurement.GAIN:
                return self.gain(cpus, holds) - 1
            case _:
                assert self.scans is not None
                return 1 + cpus * self.scans.look_time

    def _slope(self, holds: Holds, *, split: bool) -> float:
        if len(self.cpus) == 1:
            raise ModelError("a slope needs at least two numbers of CPUs; add one", place="what")

        def work(number: int) -> float:
            if self.buffers is None:
                return self.own_locks(number, holds).work
            return self.with_buffers(number, split=split, holds=holds).work

        return mean_slope(work, self.cpus)

    def is_fitted(self, published: Published) -> bool:
        """Return whether a parameter is fitted to a measured value."""
        part, name = PARTS.get(published.what, ("lock", published.what))
        fitted = getattr(getattr(self, part), "fitted", None)
        return getattr(fitted, name, None) == published.value and getattr(fitted, "cpus", None) in (
            None,
            published.cpus,
        )

    def _locks(self, cpus: int, copies: int, holds: Holds | None) -> Contention:
        law = holds or self.lock.holds
        return contention(cpus, self.think(law), [SpinLocks(self.lock.hold, copies)], law)


def _check_rising(cpus: tuple[int, ...]) -> None:
    if list(cpus) != sorted(set(cpus)):
        raise ModelError("must rise from each number to the next")


def _given_or_fitted(part: Any, name: str) -> None:
    is_given = getattr(part, name) is not None
    if is_given == (part.fitted is not None):
        problem = "are both there; keep one" if is_given else "are both missing; give one"
        raise ModelError(f"{name} and fitted {problem}")


def _within(place: str, compute: Callable[[], object]) -> None:
    try:
        compute()
    except ModelError as error:
        raise error.within(place) from None


class Contended(DocumentPart):
    """What CPUs do with locks.

    Parameters
    ----------
    misses
        By group of locks: which share of the attempts finds the lock taken.
    spinning
        Which share of the CPUs waits.
    work
        How many CPUs compute or hold a lock.
    """

    misses: tuple[float, ...]
    spinning: float
    work: float


class ContentionRow(DocumentPart):
    """A number of CPUs, with one lock and with a lock for each CPU.

    Parameters
    ----------
    cpus
        Their number.
    one, own
        What CPUs do in either case.
    gain
        How many times as much is done with a lock for each.
    looks
        How many queues each scan looks at; missing if nothing is said about scans.
    """

    cpus: int
    one: Contended = field(name="one_lock")
    own: Contended = field(name="own_locks")
    gain: float
    looks: tuple[float, ...] | None = None


class LocalityRow(DocumentPart):
    """CPUs that mostly take their own lock.

    Parameters
    ----------
    spread
        Share of the uses that choose among all locks.
    cpus
        How many CPUs there are.
    misses, spinning, work
        As with one lock.
    """

    spread: float
    cpus: int
    misses: tuple[float, ...]
    spinning: float
    work: float


class FittedBand(DocumentPart):
    """A third band.

    Parameters
    ----------
    load
        Which share of the time CPUs are busy.
    relative
        The time of a cycle with the band, relative to that without.
    """

    load: float
    relative: float


class BufferRow(DocumentPart):
    """A number of CPUs that use free buffers too.

    Parameters
    ----------
    cpus
        Their number.
    one, own
        What CPUs do with one list of free buffers, and with a list for each CPU.
    borrowed
        Which share of the buffers is borrowed then; missing if nothing is said about their number.
    none
        How likely there is no free buffer at all.
    """

    cpus: int
    one: Contended = field(name="one_list")
    own: Contended = field(name="own_lists")
    borrowed: float | None = None
    none: float | None = None


class BufferMachines(DocumentPart):
    """Machines that use free buffers.

    Parameters
    ----------
    hold
        The hold time of the lock of the free buffers.
    machines
        The largest number of CPUs of the model, and each larger one.
    """

    hold: float
    machines: tuple[BufferRow, ...]


class PublishedRow(DocumentPart):
    """A measured value, and what the model says.

    Parameters
    ----------
    what, value, cpus
        As in the parameters.
    fitted
        Whether a parameter is fitted to it.
    exponential, constant
        What the model says with either sort of hold times.
    """

    what: Measurement
    value: float
    fitted: bool
    cpus: int | None = None
    exponential: float
    constant: float


class ContentionResult(DocumentPart):
    """What ``dfopt model contention --json`` prints.

    Parameters
    ----------
    model
        Its name.
    holds
        How hold times vary.
    think, hold
        The mean time, given or fitted.
    knee
        The number of CPUs at which the one lock would be held all the time without waits.
    assumed
        Parameters that are assumptions.
    contention
        By number of CPUs.
    locality
        By share of the uses that choose among all locks; hold times are exponential.
    look
        Time of a look into a queue, in switches.
    third_band
        With a third band.
    buffers
        With free buffers.
    published
        What was measured.
    """

    model: str
    holds: Holds
    think: float
    hold: float
    knee: float
    assumed: tuple[str, ...]
    contention: tuple[ContentionRow, ...]
    locality: tuple[LocalityRow, ...]
    look: float | None = None
    third_band: FittedBand | None = None
    buffers: BufferMachines | None = None
    published: tuple[PublishedRow, ...]

    def tables(self, model: ContentionModel) -> list[Table]:
        """Return all of it as tables; those without rows are left out."""
        law = "" if self.holds is Holds.EXPONENTIAL else ", exponential"
        scans = range(1, len(self.contention[0].looks or ()) + 1)
        tables = [
            replace(
                facts(self._facts(model), self.model),
                notes=[f"~ assumed: {', '.join(self.assumed)}"] if self.assumed else [],
            ),
            Table(
                "One lock, and a lock for each CPU",
                columns(
                    *("CPUs", "one lock: misses :.1%", "spins :.1%", "work :.2f"),
                    *("own locks: misses :.1%", "spins :.1%", "work :.2f", "gain :+.1%"),
                ),
                [
                    (row.cpus, *_shown(row.one), *_shown(row.own), row.gain - 1)
                    for row in self.contention
                ],
                [
                    "misses: share of the attempts that find the lock taken",
                    "spins: share of the CPUs that waits for it",
                    "work: CPUs that compute or hold the lock",
                    "gain: how much more is done with a lock for each CPU",
                ],
            ),
            Table(
                f"Own lock first, {self.contention[-1].cpus} CPUs{law}",
                columns(
                    *("uses that choose among all locks :.0%", "misses :.1%"),
                    *("spins :.1%", "work :.2f"),
                ),
                [(row.spread, *_shown(row)) for row in self.locality],
            ),
            Table(
                "Queues that scans look at, and their cost",
                columns("CPUs", *(f"scan {scan} :.2f" for scan in scans), "all, in switches :.2%"),
                [
                    (row.cpus, *row.looks, sum(row.looks) * self.look)
                    for row in self.contention
                    if self.look is not None and row.looks is not None
                ],
            ),
            Table(
                "Free buffers: one list, and a list for each CPU",
                columns(
                    *("CPUs", "one list: misses :.1%", "work :.2f", "own lists: misses :.1%"),
                    *("work :.2f", "borrowed :.1%", "none left :.1%"),
                ),
                [
                    (
                        *(row.cpus, row.one.misses[1], row.one.work, row.own.misses[1]),
                        *(row.own.work, row.borrowed, row.none),
                    )
                    for row in (self.buffers.machines if self.buffers else ())
                ],
            ),
        ]
        for title, form in (("shares", ".1%"), ("ratios", ".3f")):
            measured = [f"{name} :{form}" for name in ("measured", *Holds)]
            tables.append(
                table_of(
                    f"Measured, and by hold times: {title}",
                    [row for row in self.published if (row.what in SHARES) == (title == "shares")],
                    dict(
                        zip(
                            ("what", "cpus", "value", *Holds, "fitted"),
                            ("what", "CPUs", *measured, "fitted"),
                            strict=True,
                        )
                    ),
                    ["fitted: a parameter was chosen so that the model says this"],
                )
            )
        return [table for table in tables if table.rows]

    def _facts(self, model: ContentionModel) -> dict[str, Value]:
        lock, buffers, scans, band = model.lock, model.buffers, model.scans, model.third_band

        def marked(name: str, text: str) -> str:
            return f"~{text}" if name in self.assumed else text

        def fitted(part: Lock | Buffers | Scans | ThirdBand, text: str) -> str:
            return f", fitted to {text.format(part.fitted)}" if part.fitted else ""

        known: dict[str, Value] = {
            "hold times": marked("lock.holds", self.holds),
            "think ÷ hold": f"{self.think / self.hold:.4g}"
            + fitted(lock, "misses of {0.misses:.1%} with {0.cpus} CPUs"),
            "knee": f"{self.knee:.3g} CPUs would hold one lock all the time",
        }
        if buffers is not None and self.buffers is not None:
            times = self.buffers.hold / self.hold
            known["free buffers"] = f"their lock is held {times:.3g} times as long" + fitted(
                buffers, "a slope of {0.slope:g} with one list"
            )
        if scans is not None:
            known["a look"] = f"{self.look:.3%} of a switch" + fitted(
                scans, "{0.slowdown:g} times the time of a switch"
            )
        if band is not None:
            first = marked("third_band.first", f"{band.first:.0%}")
            known["a third band"] = (
                f"of {first} of the load needs CPUs that are busy {band.busy:.1%}"
                + fitted(band, "{0.ratio:g} times the time")
            )
        return known


SHARES = ("misses", "misses-own-locks", "spinning", "gain")
"""Measurements that are shown as percentages."""


def contention_result(model: ContentionModel) -> ContentionResult:
    """Return how CPUs contend for locks."""
    band, most = model.third_band, model.cpus[-1]
    machines = () if model.buffers is None else sorted({most, *model.buffers.cpus})
    return ContentionResult(
        model=model.name,
        holds=model.lock.holds,
        think=model.think(),
        hold=model.lock.hold,
        knee=model.knee,
        assumed=model.assumed,
        contention=tuple(
            ContentionRow(
                cpus=cpus,
                one=_contended(model.one_lock(cpus)),
                own=_contended(model.own_locks(cpus)),
                gain=model.gain(cpus),
                looks=None if model.scans is None else expected_looks(model.scans.chances, cpus),
            )
            for cpus in model.cpus
        ),
        locality=tuple(
            LocalityRow(
                spread=spread,
                cpus=most,
                misses=found.misses,
                spinning=found.spinning,
                work=found.work,
            )
            for spread in model.spreads
            for found in [model.spread(most, spread)]
        ),
        look=None if model.scans is None else model.scans.look_time,
        third_band=None if band is None else FittedBand(load=band.busy, relative=band.relative),
        buffers=BufferMachines(
            hold=model.buffer_hold(),
            machines=tuple(
                BufferRow(
                    cpus=cpus,
                    one=_contended(model.with_buffers(cpus, split=False)),
                    own=_contended(model.with_buffers(cpus, split=True)),
                    borrowed=None if lent is None else lent.borrowed,
                    none=None if lent is None else lent.none,
                )
                for cpus in machines
                for lent in [model.borrowing(cpus)]
            ),
        )
        if machines
        else None,
        published=tuple(
            PublishedRow(
                what=each.what,
                value=each.value,
                fitted=model.is_fitted(each),
                cpus=each.cpus,
                **{str(holds): model.says(each, holds) for holds in Holds},
            )
            for each in model.published
        ),
    )


def _contended(found: Contention) -> Contended:
    return Contended(misses=found.misses, spinning=found.spinning, work=found.work)


def _shown(found: Contended | LocalityRow) -> tuple[float, float, float]:
    return found.misses[0], found.spinning, found.work


CONTENTION = AnalyticModel(
    name="contention",
    parameters=DocumentType(Format.CONTENTION_MODEL, ContentionModel),
    results=DocumentType(Format.CONTENTION, ContentionResult),
    says=contention_result,
    formulas=equations.FORMULAS,
)
