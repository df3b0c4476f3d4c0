"""Parameters of contention as a whole: locks, scans, free buffers, a third band, and what is known.

A parameter is either given or fitted to a measurement. What was measured stands beside what the
laws say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from dfopt_models.contention import equations
from dfopt_models.contention.affinity_group import (
    Borrowing,
    borrowing,
    buffer_hold_for,
    with_buffers,
)
from dfopt_models.contention.locks import (
    MOST_CPUS,
    Contention,
    Holds,
    SpinLocks,
    contention,
    mean_slope,
    own_lock_first,
    think_for,
)
from dfopt_models.contention.parts import Buffers, Lock, Scans, ThirdBand
from dfopt_models.contention.scans import expected_looks, third_band
from dfopt_models.errors import ModelError
from dfopt_models.parameter_fields import is_assumed

MOST_NUMBERS = 64
"""At most this many numbers of CPUs are shown."""

SPREADS = (1.0, 0.5, 0.2, 0.1)
"""Shares of uses that choose among all locks, where a model has no others."""

LEAST, MOST = 2.0**-62, 2.0**62
"""Times are from the first to the second, so that no ratio of them overflows."""


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
    Measurement.SLOPE_ONE_LIST: "buffers",
    Measurement.THIRD_SCAN: "scans",
    Measurement.THIRD_BAND: "third_band",
}
"""The part of a model that a measurement needs."""


@dataclass(frozen=True, slots=True)
class Published:
    """A measured value, with the number of CPUs where that matters, and where it is from."""

    what: Measurement
    value: float
    cpus: int | None = None
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentionModel:
    """CPUs that contend for the ready queue and for free buffers.

    Parameters
    ----------
    name
        What it is called.
    cpus
        Numbers of CPUs, rising.
    lock
        The lock of the ready queue.
    spreads
        Shares of the uses that choose among all locks, which the table of own locks shows.
    buffers, scans, third_band
        Further parts; None where they are left out.
    published
        Measured values.
    """

    name: str
    cpus: tuple[int, ...]
    lock: Lock
    spreads: tuple[float, ...] = SPREADS
    buffers: Buffers | None = None
    scans: Scans | None = None
    third_band: ThirdBand | None = None
    published: tuple[Published, ...] = ()

    def __post_init__(self) -> None:
        _check_cpus(self.cpus, "cpus")
        _check_times(self.lock, ("hold", "think"), "lock")
        _given_or_fitted(self.lock, "think", ("misses", "misses_of"), "lock")
        if self.lock.misses is not None:
            _within("lock", self.think)
        for number, spread in enumerate(self.spreads):
            if not 0 <= spread <= 1:
                raise ModelError(f"must be from 0 to 1, not {spread:g}", place=f"spreads[{number}]")
        if self.buffers is not None:
            _check_times(self.buffers, ("hold", "used"), "buffers")
            _given_or_fitted(self.buffers, "hold", ("slope",), "buffers")
            if (self.buffers.each is None) != (self.buffers.used is None):
                raise ModelError("each and used belong together; give both", place="buffers")
            if self.buffers.cpus:
                _check_cpus(self.buffers.cpus, "buffers.cpus")
            if self.buffers.slope is not None and len(self.cpus) == 1:
                raise ModelError(
                    "a slope needs at least two numbers of CPUs; add one", place="cpus"
                )
            self.buffer_hold()
            _within("buffers", lambda: self.borrowing(self.cpus[-1]))
        if self.scans is not None:
            scans = self.scans
            _given_or_fitted(scans, "look", ("slowdown", "slowdown_of"), "scans")
            _within("scans", lambda: expected_looks(scans.chances, 1))
            if not 0 <= scans.look_time <= MOST:
                raise ModelError(
                    f"a look must take from 0 to 2^62 switches, not {scans.look_time:g}",
                    place="scans",
                )
        if self.third_band is not None:
            band = self.third_band
            _given_or_fitted(band, "load", ("ratio",), "third_band")
            _check_cpus((band.cpus,), "third_band.cpus")
            load = 0.5 if band.load is None else band.load
            _within("third_band", lambda: third_band(band.cpus, load, band.first, band.rest))
            _within("", lambda: band.busy)
        for number, each in enumerate(self.published):
            _within(f"published[{number}]", lambda each=each: self.says(each, self.lock.holds))  # type: ignore[misc]

    @property
    def assumed(self) -> tuple[str, ...]:
        """The parameters that are assumptions, with their tables."""
        parts = {
            "lock": self.lock,
            "buffers": self.buffers,
            "scans": self.scans,
            "third_band": self.third_band,
        }
        return tuple(
            f"{table}.{name}"
            for table, part in parts.items()
            if part is not None
            for name, source in part.sources.items()
            if is_assumed(source)
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
        assert lock.misses is not None
        assert lock.misses_of is not None
        return think_for(lock.misses, lock.misses_of, lock.hold, holds or lock.holds)

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
        assert self.buffers.slope is not None
        law = holds or self.lock.holds
        return buffer_hold_for(self.buffers.slope, self.cpus, self.think(law), self.lock.hold, law)

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
        if not abs(published.value) <= MOST:
            raise ModelError(f"must be at most 2^62, not {published.value:g}", place="value")
        part = PARTS.get(what)
        if part is not None and getattr(self, part) is None:
            raise ModelError(f"needs the table [{part}]; add it", place="what")
        if what in {Measurement.SLOPE, Measurement.SLOPE_ONE_LIST}:
            return self._slope(holds, split=what is Measurement.SLOPE)
        if what is Measurement.THIRD_BAND:
            assert self.third_band is not None
            return self.third_band.relative
        if published.cpus is None:
            raise ModelError("is missing; say of how many CPUs", place="cpus")
        _check_cpus((published.cpus,), "cpus")
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
        lock, buffers, scans, band = self.lock, self.buffers, self.scans, self.third_band
        fits = {
            Measurement.MISSES: (lock.misses, lock.misses_of),
            Measurement.SLOPE_ONE_LIST: (buffers and buffers.slope, None),
            Measurement.THIRD_SCAN: (scans and scans.slowdown, scans and scans.slowdown_of),
            Measurement.THIRD_BAND: (band and band.ratio, None),
        }
        value, cpus = fits.get(published.what, (None, None))
        return value == published.value and cpus in (None, published.cpus)

    def _locks(self, cpus: int, copies: int, holds: Holds | None) -> Contention:
        law = holds or self.lock.holds
        return contention(cpus, self.think(law), [SpinLocks(self.lock.hold, copies)], law)


def _check_cpus(cpus: tuple[int, ...], place: str) -> None:
    if not cpus or len(cpus) > MOST_NUMBERS:
        raise ModelError(f"must have 1 to {MOST_NUMBERS} numbers", place=place)
    for number in cpus:
        if not 1 <= number <= MOST_CPUS:
            raise ModelError(f"must be from 1 to {MOST_CPUS}, not {number}", place=place)
    if list(cpus) != sorted(set(cpus)):
        raise ModelError("must rise from each number to the next", place=place)


def _check_times(holder: object, names: tuple[str, ...], place: str) -> None:
    for name in names:
        time = getattr(holder, name)
        if time is None:
            continue
        if not time > 0:
            raise ModelError(f"must be more than 0, not {time:g}", place=f"{place}.{name}")
        if not LEAST <= time <= MOST:
            raise ModelError(
                f"must be from 2^-62 to 2^62, not {time:g}; choose another unit",
                place=f"{place}.{name}",
            )


def _given_or_fitted(holder: object, given: str, fitted: tuple[str, ...], place: str) -> None:
    is_given = getattr(holder, given) is not None
    is_fitted = all(getattr(holder, name) is not None for name in fitted)
    if is_given == is_fitted:
        problem = "are both there; keep one" if is_given else "are both missing; give one"
        raise ModelError(f"{given} and fitted {problem}", place=place)
    for name in fitted:
        value = getattr(holder, name)
        if value is not None and not isfinite(value):
            raise ModelError("must be a number", place=f"{place}.fitted")


def _within(place: str, compute: Callable[[], object]) -> None:
    try:
        compute()
    except ModelError as error:
        raise (error.within(place) if place else error) from None
