"""Tables of contention for locks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from dfopt_cli.printing import printable
from dfopt_cli.tables import pairs, plain_table

if TYPE_CHECKING:
    from dfopt_models.contention import (
        BufferRow,
        Contention,
        ContentionModel,
        ContentionRow,
        PublishedRow,
    )

SHARES = ("misses", "misses-own-locks", "spinning", "gain")
"""Measurements that are shown as percentages."""

MEANINGS = {
    "misses": "share of the attempts that find the lock taken",
    "spins": "share of the CPUs that waits for it",
    "work": "CPUs that compute or hold the lock",
    "gain": "how much more is done with a lock for each CPU",
}


def contention_tables(
    model: ContentionModel,
    rows: Sequence[ContentionRow],
    buffers: Sequence[BufferRow],
    locality: Sequence[tuple[float, Contention]],
    published: Sequence[PublishedRow],
) -> list[Table | Text]:
    """Return what a terminal shows of contention."""
    shown: list[Table | Text] = [heading(model), Text(""), table_of_cpus(rows), Text("")]
    if locality:
        shown += [locality_table(model, locality), Text("")]
    if model.scans is not None:
        shown += [looks_table(rows, model.scans.look_time), Text("")]
    if buffers:
        shown += [buffer_table(buffers), Text("")]
    if published:
        shown += [published_rows(published), Text("")]
    meanings = dict(MEANINGS)
    if any(row.is_fitted for row in published):
        meanings["fitted"] = "a parameter was chosen so that the model says this"
    if model.assumed:
        meanings["~ assumed"] = ", ".join(map(printable, model.assumed))
    return [*shown, pairs(meanings, style="dim")]


def heading(model: ContentionModel) -> Table:
    """Return what the model is called, and its parameters."""
    lock = model.lock
    mark = assumption(model)
    fitted = (
        ""
        if lock.misses is None
        else f", fitted to misses of {lock.misses:.1%} with {lock.misses_of} CPUs"
    )
    ratio = model.think() / lock.hold
    facts = {
        "model": printable(model.name),
        "hold times": f"{mark('lock.holds')}{lock.holds}",
        "think ÷ hold": f"{ratio:.4g}{fitted}",
        "knee": f"{model.knee:.3g} CPUs would hold one lock all the time",
    }
    if model.buffers is not None:
        slope = model.buffers.slope
        chosen = "" if slope is None else f", fitted to a slope of {slope:g} with one list"
        hold = model.buffer_hold() / lock.hold
        facts["free buffers"] = f"their lock is held {hold:.3g} times as long{chosen}"
    if model.scans is not None:
        factor = model.scans.slowdown
        chosen = "" if factor is None else f", fitted to {factor:g} times the time of a switch"
        facts["a look"] = f"{model.scans.look_time:.3%} of a switch{chosen}"
    if model.third_band is not None:
        band = model.third_band
        chosen = "" if band.ratio is None else f", fitted to {band.ratio:g} times the time"
        facts["a third band"] = (
            f"of {mark('third_band.first')}{band.first:.0%} of the load needs CPUs that are busy "
            f"{band.busy:.1%}{chosen}"
        )
    return pairs(facts)


def assumption(model: ContentionModel) -> Callable[[str], str]:
    """Return what gives the mark of an assumption for a parameter."""
    return lambda name: "~" if name in model.assumed else ""


def titled(title: str, names: Iterable[str]) -> Table:
    """Return a table of numbers with a title."""
    table = plain_table()
    table.title = Text(title, style="bold")
    table.title_justify = "left"
    for name in names:
        table.add_column(name, justify="right")
    return table


def table_of_cpus(rows: Sequence[ContentionRow]) -> Table:
    """Return misses and work by the number of CPUs."""
    both = [f"{name}:\nmisses" for name in ("one lock", "own locks")]
    shares = ("spins", "work")
    names = ["CPUs", both[0], *shares, both[1], *shares, "gain"]
    table = titled("One lock, and a lock for each CPU", names)
    for row in rows:
        table.add_row(
            str(row.one.cpus), *figures(row.one), *figures(row.own), f"{row.gain - 1:+.1%}"
        )
    return table


def figures(found: Contention) -> tuple[str, str, str]:
    """Return the figures of a number of CPUs."""
    return f"{found.miss:.1%}", f"{found.spinning:.1%}", f"{found.work:.2f}"


def locality_table(model: ContentionModel, locality: Sequence[tuple[float, Contention]]) -> Table:
    """Return misses by how often CPUs choose among all locks."""
    cpus = locality[0][1].cpus
    law = "" if model.lock.holds == "exponential" else ", exponential"
    table = titled(
        f"Own lock first, {cpus} CPUs{law}",
        ["uses that choose\namong all locks", "misses", "spins", "work"],
    )
    for spread, found in locality:
        table.add_row(f"{spread:.0%}", *figures(found))
    return table


def looks_table(rows: Sequence[ContentionRow], look: float) -> Table:
    """Return the looks of each scan, and what they cost."""
    number = len(rows[0].looks or ())
    scans = [f"scan {position}" for position in range(1, number + 1)]
    table = titled(
        "Queues that scans look at, and their cost", ["CPUs", *scans, "all,\nin switches"]
    )
    for row in rows:
        found = row.looks or ()
        table.add_row(
            str(row.one.cpus), *(f"{looks:.2f}" for looks in found), f"{sum(found) * look:.2%}"
        )
    return table


def buffer_table(rows: Sequence[BufferRow]) -> Table:
    """Return work with one list of free buffers, and with a list for each CPU."""
    with_borrowing = rows[0].borrowed is not None
    table = titled(
        "Free buffers: one list, and a list for each CPU",
        ["CPUs", "one list:\nmisses", "work", "own lists:\nmisses", "work"]
        + (["borrowed", "none left"] if with_borrowing else []),
    )
    for row in rows:
        borrowed = [f"{value:.1%}" for value in (row.borrowed, row.none) if value is not None]
        lists = (
            text
            for found in (row.one, row.own)
            for text in (f"{found.misses[1]:.1%}", f"{found.work:.2f}")
        )
        table.add_row(str(row.one.cpus), *lists, *borrowed)
    return table


def published_rows(rows: Sequence[PublishedRow]) -> Table:
    """Return what was measured, beside the model with either sort of hold times."""
    table = titled("Measured, and by hold times", ["", "CPUs", "measured"])
    table.columns[0].justify = "left"
    table.columns[0].overflow = "fold"
    for holds in rows[0].by_holds:
        table.add_column(str(holds), justify="right")
    table.add_column("")
    for row in rows:
        what = row.published.what
        write = "{:.1%}" if what in SHARES else "{:.3f}"
        table.add_row(
            str(what),
            "" if row.published.cpus is None else str(row.published.cpus),
            write.format(row.published.value),
            *(write.format(value) for value in row.by_holds.values()),
            "fitted" if row.is_fitted else "",
        )
    return table
