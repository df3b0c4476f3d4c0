"""Contention of a whole model: the rows of the command and their document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dfopt.files.formats import Format
from dfopt.structs import replace
from dfopt.table import Table, Value, columns, facts, table_of
from dfopt_models.contention.locks import Contention, Holds
from dfopt_models.contention.model import ContentionModel, Published
from dfopt_models.contention.scans import expected_looks


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentionRow:
    """A number of CPUs, with one lock and with a lock for each CPU.

    Parameters
    ----------
    one, own
        What CPUs do in either case.
    gain
        How many times as much is done with a lock for each.
    looks
        How many queues each scan looks at; None if nothing is said about scans.
    """

    one: Contention
    own: Contention
    gain: float
    looks: tuple[float, ...] | None = None

    @property
    def more(self) -> float:
        """How much more is done with a lock for each."""
        return self.gain - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferRow:
    """A number of CPUs that use free buffers too.

    Parameters
    ----------
    one, own
        What CPUs do with one list of free buffers, and with a list for each CPU.
    borrowed
        Which share of the buffers is borrowed then; None if nothing is said about their number.
    none
        How likely there is no free buffer at all.
    """

    one: Contention
    own: Contention
    borrowed: float | None = None
    none: float | None = None


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A measured value, and what the model says with either sort of hold times."""

    published: Published
    by_holds: dict[Holds, float]
    is_fitted: bool


def contention_table(model: ContentionModel) -> tuple[ContentionRow, ...]:
    """Return a row for each number of CPUs of the model."""
    return tuple(
        ContentionRow(
            one=model.one_lock(cpus),
            own=model.own_locks(cpus),
            gain=model.gain(cpus),
            looks=None if model.scans is None else expected_looks(model.scans.chances, cpus),
        )
        for cpus in model.cpus
    )


def buffer_table(model: ContentionModel) -> tuple[BufferRow, ...]:
    """Return a row for the largest number of CPUs of the model, and for each larger machine."""
    if model.buffers is None:
        return ()
    rows = []
    for cpus in sorted({model.cpus[-1], *model.buffers.cpus}):
        borrowing = model.borrowing(cpus)
        rows.append(
            BufferRow(
                one=model.with_buffers(cpus, split=False),
                own=model.with_buffers(cpus, split=True),
                borrowed=None if borrowing is None else borrowing.borrowed,
                none=None if borrowing is None else borrowing.none,
            )
        )
    return tuple(rows)


def locality_table(model: ContentionModel) -> tuple[tuple[float, Contention], ...]:
    """Return what the largest number of CPUs does that mostly takes its own lock.

    Hold times are exponential.
    """
    cpus = model.cpus[-1]
    return tuple((spread, model.spread(cpus, spread)) for spread in model.spreads)


def published_table(model: ContentionModel) -> tuple[PublishedRow, ...]:
    """Return what was measured, beside the model with exponential and with constant holds."""
    return tuple(
        PublishedRow(
            published=each,
            by_holds={holds: model.says(each, holds) for holds in Holds},
            is_fitted=model.is_fitted(each),
        )
        for each in model.published
    )


def contention_document(
    model: ContentionModel,
    rows: Sequence[ContentionRow],
    buffers: Sequence[BufferRow],
    locality: Sequence[tuple[float, Contention]],
    published: Sequence[PublishedRow],
) -> dict[str, Any]:
    """Return all of it as a document of the format ``dfopt-contention/1``."""
    document: dict[str, Any] = {
        "format": Format.CONTENTION,
        "model": model.name,
        "holds": model.lock.holds,
        "think": model.think(),
        "hold": model.lock.hold,
        "knee": model.knee,
        "assumed": list(model.assumed),
        "contention": [
            {"cpus": row.one.cpus, "one_lock": _found(row.one), "own_locks": _found(row.own)}
            | {"gain": row.gain}
            | ({} if row.looks is None else {"looks": list(row.looks)})
            for row in rows
        ],
        "locality": [
            {"spread": spread, "cpus": found.cpus} | _found(found) for spread, found in locality
        ],
    }
    if model.scans is not None:
        document["look"] = model.scans.look_time
    if model.third_band is not None:
        document["third_band"] = {
            "load": model.third_band.busy,
            "relative": model.third_band.relative,
        }
    if model.buffers is not None:
        document["buffers"] = {
            "hold": model.buffer_hold(),
            "machines": [
                {"cpus": row.one.cpus, "one_list": _found(row.one), "own_lists": _found(row.own)}
                | ({} if row.borrowed is None else {"borrowed": row.borrowed, "none": row.none})
                for row in buffers
            ],
        }
    document["published"] = [
        {"what": row.published.what, "value": row.published.value, "fitted": row.is_fitted}
        | ({} if row.published.cpus is None else {"cpus": row.published.cpus})
        | {str(holds): value for holds, value in row.by_holds.items()}
        for row in published
    ]
    return document


def _found(found: Contention) -> dict[str, Any]:
    return {"misses": list(found.misses), "spinning": found.spinning, "work": found.work}


SHARES = ("misses", "misses-own-locks", "spinning", "gain")
"""Measurements that are shown as percentages."""


def contention_tables(
    model: ContentionModel,
    rows: Sequence[ContentionRow],
    buffers: Sequence[BufferRow],
    locality: Sequence[tuple[float, Contention]],
    published: Sequence[PublishedRow],
) -> list[Table]:
    """Return all of it as tables; those without rows are left out."""
    law = "" if model.lock.holds == "exponential" else ", exponential"
    scans = range(1, len(rows[0].looks or ()) + 1)
    tables = [
        _parameters(model),
        table_of(
            "One lock, and a lock for each CPU",
            rows,
            {
                "one.cpus": "CPUs",
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
        Table(
            f"Own lock first, {model.cpus[-1]} CPUs{law}",
            columns(
                "uses that choose among all locks :.0%", "misses :.1%", "spins :.1%", "work :.2f"
            ),
            [(spread, found.miss, found.spinning, found.work) for spread, found in locality],
        ),
        Table(
            "Queues that scans look at, and their cost",
            columns("CPUs", *(f"scan {scan} :.2f" for scan in scans), "all, in switches :.2%"),
            [
                (row.one.cpus, *row.looks, sum(row.looks) * model.scans.look_time)
                for row in rows
                if model.scans is not None and row.looks is not None
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
                    *(row.one.cpus, row.one.misses[1], row.one.work, row.own.misses[1]),
                    *(row.own.work, row.borrowed, row.none),
                )
                for row in buffers
            ],
        ),
    ]
    for title, form in (("shares", ".1%"), ("ratios", ".3f")):
        own = [row for row in published if (row.published.what in SHARES) == (title == "shares")]
        measured = [f"{name} :{form}" for name in ("measured", *Holds)]
        tables.append(
            Table(
                f"Measured, and by hold times: {title}",
                columns("what", "CPUs", *measured, "fitted"),
                [
                    (each.what, each.cpus, each.value, *row.by_holds.values(), row.is_fitted)
                    for row in own
                    for each in [row.published]
                ],
                ["fitted: a parameter was chosen so that the model says this"],
            )
        )
    return [table for table in tables if table.rows]


def _parameters(model: ContentionModel) -> Table:
    lock, buffers, scans, band = model.lock, model.buffers, model.scans, model.third_band

    def marked(name: str, text: str) -> str:
        return f"~{text}" if name in model.assumed else text

    def fitted(value: float | None, text: str) -> str:
        return "" if value is None else f", fitted to {text.format(value)}"

    known: dict[str, Value] = {
        "hold times": marked("lock.holds", lock.holds),
        "think ÷ hold": f"{model.think() / lock.hold:.4g}"
        + fitted(lock.misses, f"misses of {{:.1%}} with {lock.misses_of} CPUs"),
        "knee": f"{model.knee:.3g} CPUs would hold one lock all the time",
    }
    if buffers is not None:
        known["free buffers"] = (
            f"their lock is held {model.buffer_hold() / lock.hold:.3g} times as long"
            + fitted(buffers.slope, "a slope of {:g} with one list")
        )
    if scans is not None:
        known["a look"] = f"{scans.look_time:.3%} of a switch" + fitted(
            scans.slowdown, "{:g} times the time of a switch"
        )
    if band is not None:
        known["a third band"] = (
            f"of {marked('third_band.first', f'{band.first:.0%}')} of the load needs CPUs that are "
            f"busy {band.busy:.1%}" + fitted(band.ratio, "{:g} times the time")
        )
    assumed = [f"~ assumed: {', '.join(model.assumed)}"] if model.assumed else []
    return replace(facts(known, model.name), notes=assumed)
