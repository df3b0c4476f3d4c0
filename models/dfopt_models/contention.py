"""CPUs that contend for spin locks: what was measured, beside what the laws say.

The measurements of Sohn and Kim, sections V and VI, by queueing theory: locks, scans, free buffers
and a third band. A parameter is either given or fitted to a measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Annotated, Any, ClassVar

from msgspec import Meta, field
from msgspec.structs import asdict

from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format
from dfopt.structs import Checked, DocumentPart, Natural, Positive, Share, replace
from dfopt.table import Table, Value, columns, table_of
from dfopt.type_reader import at
from dfopt_models.errors import ModelError
from dfopt_models.locks import (
    MOST_CPUS,
    Borrowing,
    Contention,
    Holds,
    SpinLocks,
    bisect,
    borrowing,
    contention,
    equation,
    expected_looks,
    knee,
    look_time,
    mean_slope,
    own_lock_first,
    think_for,
    third_band,
)
from dfopt_models.model import AnalyticModel, Sourced, assumed_in, parameters_table

LEAST, MOST = 2.0**-62, 2.0**62
"""Times are from the first to the second, so that no ratio of them overflows."""

LOADS = (1e-6, 1 - 1e-9)
"""Between these a load is looked for."""

Time = Annotated[float, Meta(ge=LEAST, le=MOST)]

CpuCount = Annotated[int, Meta(ge=1, le=MOST_CPUS)]


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


SHARES = (Measurement.MISSES, Measurement.MISSES_OWN, Measurement.SPINNING, Measurement.GAIN)
"""The measurements that are shown as percentages."""

OF_CPUS = (*SHARES, Measurement.THIRD_SCAN)
"""Those for which the number of CPUs matters."""

PARTS = {
    Measurement.SLOPE_ONE_LIST: "buffers",
    Measurement.THIRD_SCAN: "scans",
    Measurement.THIRD_BAND: "third_band",
}
"""The table of the model that each one needs; the others need the lock alone."""


class FittedTo(Checked):
    """A measurement that a parameter is fitted to."""

    what: ClassVar[Measurement]
    said: ClassVar[str]
    """How tables say it."""

    @property
    def value(self) -> float:
        """What was measured."""
        return float(getattr(self, self.__struct_fields__[0]))


class FittedMisses(FittedTo):
    """A share of misses that a parameter is fitted to.

    Parameters
    ----------
    misses
        Share of the attempts that find the one lock taken.
    cpus
        Of how many CPUs.
    """

    what = Measurement.MISSES
    said = "misses of {0.misses:.1%} with {0.cpus} CPUs"

    misses: float
    cpus: Natural


class FittedSlope(FittedTo):
    """A mean slope of work, with one list of free buffers, that a parameter is fitted to."""

    what = Measurement.SLOPE_ONE_LIST
    said = "a slope of {0.slope:g} with one list"

    slope: float


class FittedSlowdown(FittedTo):
    """The time of a switch with a scan in vain that a parameter is fitted to.

    Parameters
    ----------
    slowdown
        Relative to a switch without that scan.
    cpus
        On how many CPUs.
    """

    what = Measurement.THIRD_SCAN
    said = "{0.slowdown:g} times the time of a switch"

    slowdown: float
    cpus: Positive


class FittedRatio(FittedTo):
    """The relative time of a cycle that a parameter is fitted to."""

    what = Measurement.THIRD_BAND
    said = "{0.ratio:g} times the time"

    ratio: float


class GivenOrFitted(Sourced):
    """Parameters, one of which is given or fitted to a measurement."""

    may_be_fitted: ClassVar[str]
    """Its name."""

    @property
    def fit(self) -> FittedTo | None:
        """What it is fitted to; None where it is given."""
        fitted: FittedTo | None = self.fitted  # type: ignore[attr-defined] # each table has its own
        return fitted

    def __post_init__(self) -> None:
        """Check that the parameter is known, and by one of both."""
        super().__post_init__()
        is_given = getattr(self, self.may_be_fitted) is not None
        if is_given == (self.fit is not None):
            problem = "are both there; keep one" if is_given else "are both missing; give one"
            raise ModelError(f"{self.may_be_fitted} and fitted {problem}")

    def settled(self, solve: Callable[[Any], float]) -> float:
        """Return the parameter as it is given, or else what solves the fit."""
        given: float | None = getattr(self, self.may_be_fitted)
        return solve(self.fit) if given is None else given


class Lock(GivenOrFitted):
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

    may_be_fitted = "think"

    hold: Time = 1.0
    think: Time | None = None
    holds: Holds = Holds.EXPONENTIAL
    fitted: FittedMisses | None = None

    @property
    def think_time(self) -> float:
        """The time between two uses, given or fitted."""
        return self.settled(lambda fit: think_for(fit.misses, fit.cpus, self.hold, self.holds))


class Buffers(GivenOrFitted):
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

    may_be_fitted = "hold"

    hold: Time | None = None
    each: Natural | None = None
    used: Time | None = None
    cpus: Annotated[tuple[CpuCount, ...], Meta(max_length=64)] = ()
    fitted: FittedSlope | None = None

    def __post_init__(self) -> None:
        """Check that both numbers of buffers are there, and that machines rise."""
        super().__post_init__()
        if (self.each is None) != (self.used is None):
            raise ModelError("each and used belong together; give both")
        _check_rising(self.cpus)


class Scans(GivenOrFitted):
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

    may_be_fitted = "look"

    chances: tuple[float, ...]
    look: float | None = None
    fitted: FittedSlowdown | None = None

    def __post_init__(self) -> None:
        """Check that chances are some, and that a look takes some time."""
        super().__post_init__()
        expected_looks(self.chances, 1)
        if not 0 <= self.look_time <= MOST:
            raise ModelError(
                f"a look must take from 0 to 2^62 switches, not {self.look_time:g}",
            )

    @property
    def look_time(self) -> float:
        """What one look takes, in switches."""
        return self.settled(lambda fit: look_time(fit.slowdown, fit.cpus))


class ThirdBand(GivenOrFitted):
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

    may_be_fitted = "load"

    cpus: CpuCount
    first: float
    rest: float
    load: float | None = None
    fitted: FittedRatio | None = None

    def __post_init__(self) -> None:
        """Check that the load is known, and can be."""
        super().__post_init__()
        third_band(self.cpus, 0.5 if self.load is None else self.load, self.first, self.rest)
        assert self.busy is not None

    @property
    def busy(self) -> float:
        """The load, given or fitted."""

        def relative(load: float) -> float:
            return third_band(self.cpus, load, self.first, self.rest)

        return self.settled(lambda fit: bisect(relative, fit.ratio, LOADS, "fitted"))

    @property
    def relative(self) -> float:
        """The time of a cycle with the band, relative to that without."""
        return third_band(self.cpus, self.busy, self.first, self.rest)


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
        at("cpus", _check_rising, self.cpus)
        at("lock", attrgetter("think"), self)
        if self.buffers is not None:
            if self.buffers.fitted is not None and len(self.cpus) == 1:
                raise ModelError(
                    "a slope needs at least two numbers of CPUs; add one", place="cpus"
                )
            at("buffers", attrgetter("buffer_hold"), self)
            at("buffers", self.borrowing, self.cpus[-1])
        for number, each in enumerate(self.published):
            at(f"published[{number}]", self.says, each)

    @property
    def parts(self) -> Mapping[str, GivenOrFitted]:
        """The tables that the model has, by their names."""
        names = ("lock", "buffers", "scans", "third_band")
        return {name: part for name in names if (part := getattr(self, name)) is not None}

    @property
    def assumed(self) -> tuple[str, ...]:
        """The parameters that are assumptions, with their tables."""
        return assumed_in({f"{name}.": part for name, part in self.parts.items()})

    @property
    def knee(self) -> float:
        """The number of CPUs at which the one lock would be held all the time without waits."""
        return float(knee(self.think, self.lock.hold))

    @property
    def think(self) -> float:
        """The time between two uses of the lock, given or fitted."""
        return self.lock.think_time

    def with_holds(self, holds: Holds) -> ContentionModel:
        """Return the model for hold times of a sort; what is fitted is fitted anew."""
        if holds is self.lock.holds:
            return self
        # Measured values were checked, and are for either sort.
        return replace(self, lock=replace(self.lock, holds=holds), published=())

    def one_lock(self, cpus: int) -> Contention:
        """Return what CPUs do that share one lock."""
        return self._contention(cpus, SpinLocks(self.lock.hold))

    def own_locks(self, cpus: int) -> Contention:
        """Return what CPUs do with a lock for each of them, all used alike."""
        return self._contention(cpus, SpinLocks(self.lock.hold, cpus))

    def gain(self, cpus: int) -> float:
        """Return how many times as much is done with a lock for each CPU as with one."""
        return self.own_locks(cpus).work / self.one_lock(cpus).work

    def spread(self, cpus: int, spread: float) -> Contention:
        """Return what CPUs do that choose among all locks in a share of their uses."""
        exponential = self.with_holds(Holds.EXPONENTIAL)
        return own_lock_first(cpus, exponential.think, self.lock.hold, spread)

    @property
    def buffer_hold(self) -> float:
        """The hold time of the list of free buffers, given or fitted."""
        assert self.buffers is not None

        def slope(hold: float) -> float:
            return self.slope(split=False, hold=hold)

        ends = (self.lock.hold / 10**6, self.think)
        return self.buffers.settled(lambda fit: bisect(slope, fit.slope, ends, "buffers.fitted"))

    def with_buffers(self, cpus: int, *, split: bool, hold: float | None = None) -> Contention:
        """Return what CPUs do that use their own queue and free buffers in each round.

        Parameters
        ----------
        cpus
            How many there are; each has a queue with a lock.
        split
            Whether each CPU has a list of free buffers, or all share one.
        hold
            For which the lock of a list is held; by default :attr:`buffer_hold`.
        """
        lists = SpinLocks(self.buffer_hold if hold is None else hold, cpus if split else 1)
        return self._contention(cpus, SpinLocks(self.lock.hold, cpus), lists)

    def borrowing(self, cpus: int) -> Borrowing | None:
        """Return how often a CPU borrows a buffer; None if nothing is said about buffers."""
        buffers = self.buffers
        if buffers is None or buffers.each is None or buffers.used is None:
            return None
        return borrowing(cpus, buffers.each, buffers.used)

    def says(self, published: Published) -> float:
        """Return what the model says of something measured.

        Raises
        ------
        ModelError
            When a part or a number of CPUs is missing that this needs.
        """
        what, cpus = published.what, published.cpus
        part = PARTS.get(what, "lock")
        if part not in self.parts:
            raise ModelError(f"needs the table [{part}]; add it", place="what")
        if what in OF_CPUS and cpus is None:
            raise ModelError("is missing; say of how many CPUs", place="cpus")
        if what in OF_CPUS and not 1 <= (cpus or 0) <= MOST_CPUS:
            raise ModelError(f"must be from 1 to {MOST_CPUS}, not {cpus}", place="cpus")
        return self._measured(what, cpus or 0)

    def _measured(self, what: Measurement, cpus: int) -> float:  # noqa: PLR0911 - one for each
        match what:
            case Measurement.MISSES:
                return self.one_lock(cpus).miss
            case Measurement.MISSES_OWN:
                return self.own_locks(cpus).miss
            case Measurement.SPINNING:
                return self.one_lock(cpus).spinning
            case Measurement.GAIN:
                return self.gain(cpus) - 1
            case Measurement.THIRD_SCAN:
                assert self.scans is not None
                return 1 + cpus * self.scans.look_time
            case Measurement.THIRD_BAND:
                assert self.third_band is not None
                return self.third_band.relative
        return self.slope(split=what is Measurement.SLOPE)

    def slope(self, *, split: bool, hold: float | None = None) -> float:
        """Return the work that a further CPU adds, with lists of free buffers where there are any.

        The parameters are those of :meth:`with_buffers`.

        Raises
        ------
        ModelError
            When the model has a single number of CPUs.
        """
        if len(self.cpus) == 1:
            raise ModelError("a slope needs at least two numbers of CPUs; add one", place="what")

        def work(number: int) -> float:
            if self.buffers is None:
                return self.own_locks(number).work
            return self.with_buffers(number, split=split, hold=hold).work

        return mean_slope(work, self.cpus)

    def is_fitted(self, published: Published) -> bool:
        """Return whether a parameter is fitted to a measured value."""
        return any(
            fit is not None
            and (fit.what, fit.value) == (published.what, published.value)
            and getattr(fit, "cpus", published.cpus) == published.cpus
            for fit in (part.fit for part in self.parts.values())
        )

    def _contention(self, cpus: int, *locks: SpinLocks) -> Contention:
        return contention(cpus, self.think, locks, self.lock.holds)


def _check_rising(cpus: tuple[int, ...]) -> None:
    if list(cpus) != sorted(set(cpus)):
        raise ModelError("must rise from each number to the next")


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
    one: Contention = field(name="one_lock")
    own: Contention = field(name="own_locks")
    gain: float
    looks: tuple[float, ...] | None = None

    @property
    def more(self) -> float:
        """How much more is done with a lock for each."""
        return self.gain - 1


class LocalityRow(Contention):
    """CPUs that mostly take their own lock.

    Parameters
    ----------
    spread
        Share of the uses that choose among all locks.
    cpus
        How many CPUs there are.
    """

    spread: float
    cpus: int


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
    one: Contention = field(name="one_list")
    own: Contention = field(name="own_lists")
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
            parameters_table(self.model, self._facts(model), self.assumed),
            table_of(
                "One lock, and a lock for each CPU",
                self.contention,
                {
                    "cpus": "CPUs",
                    "one.miss": "one lock: misses :.1%",
                    "one.spinning": "spins :.1%",
                    "one.work": "work :.2f",
                    "own.miss": "own locks: misses :.1%",
                    "own.spinning": "spins :.1%",
                    "own.work": "work :.2f",
                    "more": "gain :+.1%",
                },
                [
                    "misses: share of the attempts that find the lock taken",
                    "spins: share of the CPUs that waits for it",
                    "work: CPUs that compute or hold the lock",
                    "gain: how much more is done with a lock for each CPU",
                ],
            ),
            table_of(
                f"Own lock first, {self.contention[-1].cpus} CPUs{law}",
                self.locality,
                {
                    "spread": "uses that choose among all locks :.0%",
                    "miss": "misses :.1%",
                    "spinning": "spins :.1%",
                    "work": "work :.2f",
                },
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
            table_of(
                "Free buffers: one list, and a list for each CPU",
                self.buffers.machines if self.buffers else (),
                {
                    "cpus": "CPUs",
                    "one.last_miss": "one list: misses :.1%",
                    "one.work": "work :.2f",
                    "own.last_miss": "own lists: misses :.1%",
                    "own.work": "work :.2f",
                    "borrowed": "borrowed :.1%",
                    "none": "none left :.1%",
                },
            ),
        ]
        for is_share, title, form in ((True, "shares", ".1%"), (False, "ratios", ".3f")):
            values = {"value": "measured"} | {str(each): str(each) for each in Holds}
            tables.append(
                table_of(
                    f"Measured, and by hold times: {title}",
                    [row for row in self.published if (row.what in SHARES) is is_share],
                    {"what": "what", "cpus": "CPUs"}
                    | {name: f"{shown} :{form}" for name, shown in values.items()}
                    | {"fitted": "fitted"},
                    ["fitted: a parameter was chosen so that the model says this"],
                )
            )
        return [table for table in tables if table.rows]

    def _facts(self, model: ContentionModel) -> dict[str, Value]:
        lock, buffers, scans, band = model.lock, model.buffers, model.scans, model.third_band

        def marked(name: str, text: str) -> str:
            return f"~{text}" if name in self.assumed else text

        def fitted(part: GivenOrFitted) -> str:
            fit = part.fit
            return "" if fit is None else f", fitted to {fit.said.format(fit)}"

        known: dict[str, Value] = {
            "hold times": marked("lock.holds", self.holds),
            "think ÷ hold": f"{self.think / self.hold:.4g}{fitted(lock)}",
            "knee": f"{self.knee:.3g} CPUs would hold one lock all the time",
        }
        if buffers is not None and self.buffers is not None:
            times = f"{self.buffers.hold / self.hold:.3g} times as long"
            known["free buffers"] = f"their lock is held {times}{fitted(buffers)}"
        if scans is not None:
            known["a look"] = f"{self.look:.3%} of a switch{fitted(scans)}"
        if band is not None:
            first = marked("third_band.first", f"{band.first:.0%}")
            busy = f"CPUs that are busy {band.busy:.1%}{fitted(band)}"
            known["a third band"] = f"of {first} of the load needs {busy}"
        return known


def contention_result(model: ContentionModel) -> ContentionResult:
    """Return how CPUs contend for locks."""
    band, most = model.third_band, model.cpus[-1]
    laws = {holds: model.with_holds(holds) for holds in Holds}
    machines = () if model.buffers is None else sorted({most, *model.buffers.cpus})
    return ContentionResult(
        model=model.name,
        holds=model.lock.holds,
        think=model.think,
        hold=model.lock.hold,
        knee=model.knee,
        assumed=model.assumed,
        contention=tuple(
            ContentionRow(
                cpus=cpus,
                one=model.one_lock(cpus),
                own=model.own_locks(cpus),
                gain=model.gain(cpus),
                looks=None if model.scans is None else expected_looks(model.scans.chances, cpus),
            )
            for cpus in model.cpus
        ),
        locality=tuple(
            LocalityRow(spread=spread, cpus=most, **asdict(model.spread(most, spread)))
            for spread in model.spreads
        ),
        look=None if model.scans is None else model.scans.look_time,
        third_band=None if band is None else FittedBand(load=band.busy, relative=band.relative),
        buffers=BufferMachines(
            hold=model.buffer_hold,
            machines=tuple(
                BufferRow(
                    cpus=cpus,
                    one=model.with_buffers(cpus, split=False),
                    own=model.with_buffers(cpus, split=True),
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
                **{str(holds): law.says(each) for holds, law in laws.items()},
            )
            for each in model.published
        ),
    )


CONTENTION = AnalyticModel(
    name="contention",
    parameters=DocumentType(Format.CONTENTION_MODEL, ContentionModel),
    results=DocumentType(Format.CONTENTION, ContentionResult),
    says=contention_result,
    formulas=equation.formulas,
)
