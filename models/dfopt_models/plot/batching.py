"""The gain of batches, and misses against waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dfopt.plot.style import INK, add_legend, begin_axes, line_style, new_figure, styled
from dfopt_models.batching import BatchingModel, own_choice, pareto_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (10.5, 4.6)
"""Of the figure, in inches."""

MILLISECONDS = 1e-6
LONGEST = 512
"""Process lengths are drawn at least up to this."""

OWN: dict[str, Any] = {"linestyle": "", "marker": "*", "markersize": 12}
"""The look of the model's own choice."""


@styled
def plot_batching(model: BatchingModel) -> Figure:
    """Draw gains against process length on the left, misses against waiting on the right.

    Parameters
    ----------
    model
        The model; a curve for each of its granularities. Large marks on the right are its own
        MAXBSIZE and MAXBCOUNT.

    Returns
    -------
    matplotlib.figure.Figure
        With an axes for each picture.
    """
    figure = new_figure(*SIZE)
    left, right = figure.subplots(1, 2)
    signs = {}
    lengths = [2**power for power in range(max(LONGEST, *model.lengths).bit_length())]
    for number, granularity in enumerate(model.granularities):
        look = line_style(number) | {"linestyle": "-"}
        signs[f"GRANULARITY {granularity:,}"] = look
        left.plot(lengths, [model.gain(granularity, length) for length in lengths], **look)
        limit = {"color": look["color"], "linewidth": 0.8, "linestyle": ":"}
        left.axhline(model.limit(granularity), **limit)
        # Choices that no other one beats; where nothing is missed they have no place on the axis.
        chosen = [each for each in pareto_table(model, granularity) if each.misses > 0]
        waits = [each.waiting * MILLISECONDS for each in chosen]
        right.plot(waits, [each.misses for each in chosen], **look)
        own = own_choice(model, granularity)
        if own.misses > 0 and own.waiting > 0:
            right.plot([own.waiting * MILLISECONDS], [own.misses], **look | OWN)
    left.set_xscale("log", base=2)
    right.set(xscale="log", yscale="log")
    for axis in (left.xaxis, right.xaxis, right.yaxis):
        axis.set_major_formatter("{x:,g}")
    left.set(
        title="Speed of batches over one queue",
        xlabel="PROCESS_LENGTH (dotted: without end)",
        ylabel="gain",
    )
    right.set(
        title="Batches that no other ones beat",
        xlabel="wait for the next turn, ms",
        ylabel="missed lines a dispatch",
    )
    for axes in (left, right):
        begin_axes(axes)
    sizes = f"MAXBSIZE {model.max_batch_size:,}, MAXBCOUNT {model.max_batch_count:,}"
    add_legend(left, signs | {sizes: OWN | {"color": INK}})
    return figure
