"""Misses and work against the number of CPUs, with one lock and with a lock for each CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dfopt.plot.style import GREY, INK, LINES, add_legend, begin_axes, new_figure, styled
from dfopt_models.contention import ContentionModel, Measurement
from dfopt_models.locks import Holds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (10.5, 4.6)
"""Of the figure, in inches."""

MOST_POINTS = 40
"""At most this many numbers of CPUs are computed for a curve."""

DASHES = {Holds.EXPONENTIAL: "-", Holds.CONSTANT: "--"}
ONE, OWN = "one lock", "a lock for each CPU"
COLOURS = {ONE: LINES[0], OWN: LINES[1]}
IDEAL: dict[str, Any] = {"linestyle": ":", "color": GREY}


@styled
def plot_contention(model: ContentionModel) -> Figure:
    """Draw misses on the left and work on the right, with what was measured.

    Lines are for exponential hold times, broken lines for constant ones; think times are those of
    the model, fitted for each if they are fitted.

    Parameters
    ----------
    model
        The model. The axis goes from 1 to its largest number of CPUs.

    Returns
    -------
    matplotlib.figure.Figure
        With an axes for each picture.
    """
    figure = new_figure(*SIZE)
    left, right = figure.subplots(1, 2)
    most = model.cpus[-1]
    numbers = sorted({*range(1, most + 1, -(-most // MOST_POINTS)), most})
    for holds, dashes in DASHES.items():
        held = model.with_holds(holds)
        for name, found in ((ONE, held.one_lock), (OWN, held.own_locks)):
            machines = [found(number) for number in numbers]
            look: dict[str, Any] = {"color": COLOURS[name], "linestyle": dashes}
            left.plot(numbers, [100 * each.miss for each in machines], **look)
            right.plot(numbers, [each.work for each in machines], **look)
    right.plot([1, most], [1, most], **IDEAL)
    left.set(title="Attempts that find the lock taken", ylabel="misses, %", ylim=(0, 100))
    right.set(title="CPUs that do work", ylabel="work, CPUs", ylim=(0, most))
    for axes in (left, right):
        begin_axes(axes).set(xlabel="CPUs", xlim=(0 if most > 1 else 0.5, most * 1.02))
    signs: dict[str, dict[str, Any]] = {name: {"color": colour} for name, colour in COLOURS.items()}
    signs |= {f"{holds} hold times": {"color": INK, "ls": ls} for holds, ls in DASHES.items()}
    places = {
        Measurement.MISSES: (left, ONE),
        Measurement.MISSES_OWN: (left, OWN),
        Measurement.SPINNING: (right, ONE),
    }
    for each in model.published:
        if each.what in places and each.cpus is not None and each.cpus <= most:
            axes, name = places[each.what]
            # CPUs that do not spin do work.
            height = each.cpus * (1 - each.value) if axes is right else 100 * each.value
            look = {"color": COLOURS[name], "linestyle": "", "marker": "o", "clip_on": False}
            axes.plot([each.cpus], [height], zorder=5, **look)
            signs["measured"] = look | {"color": INK}
    signs["no contention"] = IDEAL
    add_legend(left, signs)
    return figure
