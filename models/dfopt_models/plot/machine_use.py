"""How much of a machine does work as machines grow: the room that is left for any policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dfopt.plot.gantt_bars import shade
from dfopt_models.growth import GrowthPath
from dfopt_models.plot.crossover import look_of
from dfopt_models.plot.style import (
    LINE_WIDTH,
    add_legend,
    begin_axes,
    label,
    legend_key,
    policy_colours,
    product_axis,
    products_up_to,
    shown_policy,
)
from dfopt_models.response_time.assumptions import assumptions_of_use
from dfopt_models.response_time.machine_use import useful_share
from dfopt_models.response_time.model import ResponseModel
from dfopt_models.response_time.numeric import machines_along

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 1e4


def plot_machine_use(
    model: ResponseModel, *, path: GrowthPath = GrowthPath.EQUAL, ax: Axes | None = None
) -> Axes:
    """Draw the share of the machine that does work under each policy, against speed × cache.

    No policy that does this work shortens all response times to less than this share of them.

    Parameters
    ----------
    model
        A model that says how many processors the machine has.
    path
        How speed and cache grow together; not ``limit``.
    ax
        Where to draw; a figure of its own if None.

    Returns
    -------
    matplotlib.axes.Axes
        Where it has been drawn.

    Raises
    ------
    DfoptError
        When the model does not give the processors, a job lacks a policy, or there is no machine
        along the path.
    """
    axes = begin_axes(ax, model.name)
    product_axis(axes.xaxis, today=True)
    products = products_up_to(LARGEST)
    colours = policy_colours([model])
    least, keys, names = 1.0, [], []
    for policy, ground in colours.items():
        shares = useful_share(model, policy, *machines_along(path, products))
        dashes = look_of(policy, colours)["linestyle"]
        line = {"color": shade(ground), "linestyle": dashes}
        axes.plot(products, shares, linewidth=LINE_WIDTH, **line)
        least = min(least, float(shares.min()))
        mark = "~" if assumptions_of_use(model, policy) else ""
        keys.append(legend_key(shade(ground), linestyle=dashes))
        names.append(f"{shown_policy(policy)}: {mark}{shares[0]:.1%} today")
    axes.axhline(1.0, color="black", linewidth=1.0, zorder=1)
    axes.set_xlim(1.0, LARGEST)
    axes.set_ylim(max(0.0, 1.0 - 1.1 * (1.0 - least)), 1.0 + 0.05 * (1.0 - least))
    label(axes, f"speed × cache, {path.meaning}", "share of processors that does work")
    add_legend(axes, keys, names, loc="lower left")
    return axes
