"""The pictures of the page on cache domains."""

from collections.abc import Mapping, Sequence
from statistics import mean

from cache_domains_runs import DATA_AFFINITY, EEVDF, VARIANTS, Case, Figures, Results, Variant
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dfopt.confidence import confidence_interval

COLOURS = ("#4477AA", "#66CCEE", "#228833", "#CCBB44", "#BBBBBB", "#EE6677", "#AA3377")
"""The bright scheme of Paul Tol."""

MARKERS = ("o", "^", "v", "s", "P", "D", "X")

Panels = Sequence[tuple[str, Case]]


def _style(variant: Variant) -> dict[str, str]:
    number = VARIANTS.index(variant)
    return {"color": COLOURS[number], "marker": MARKERS[number]}


def trade(
    panels: Panels,
    results: Results,
    recorded: Mapping[Case, Figures],
) -> Axes:
    """Return changes of fragment against the median wake-up latency, a panel for each workload."""
    figure = Figure(figsize=(10, 4.3), layout="constrained")
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, (title, case) in zip(all_axes, panels, strict=True):
        for variant in VARIANTS:
            latencies = results.values(case, variant, "p50")
            changes = results.values(case, variant, "changes")
            style = _style(variant)
            # Each run, and a large mark at the mean.
            ax.plot(latencies, changes, linestyle="", markersize=3.5, alpha=0.6, **style)
            ax.plot(
                mean(latencies),
                mean(changes),
                linestyle="",
                markersize=9,
                markeredgecolor="black",
                label=variant.label,
                **style,
            )
        own = recorded.get(case)
        if own is not None:
            style = {"linestyle": "", "markersize": 13, "marker": "*", "color": "black"}
            ax.plot(own.p50, own.changes, label="the recording", **style)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("median wake-up latency [ms]")
    all_axes[0].set_ylabel("changes of fragment")
    handles, labels = all_axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return all_axes[0]


def gains(panels: Panels, variants: Sequence[Variant], results: Results) -> Axes:
    """Return what changes cost, and when all threads end in comparison with EEVDF, by case."""
    figure = Figure(figsize=(10, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    width = 0.8 / len(variants)
    for number, variant in enumerate(variants):
        label: str | None = variant.label
        for place, (_, case) in enumerate(panels):
            if variant not in case.variants:
                continue
            at = place + (number - (len(variants) - 1) / 2) * width
            shares = [100 * share for share in results.values(case, variant, "share")]
            ends = [100 * end for end in later(results, case, variant)]
            colour = COLOURS[VARIANTS.index(variant)]
            for ax, values in ((above, shares), (below, ends)):
                if variant == EEVDF and ax is below:
                    continue
                found = confidence_interval(values)
                error = {"yerr": found.half_width, "ecolor": "black", "capsize": 2}
                ax.bar(at, found.mean, width, color=colour, label=label, **error)
                label = None
    above.set_ylabel("penalties [% of CPU time]")
    below.set_ylabel("end, later than\nunder EEVDF [%]")
    below.axhline(0, color="black", linewidth=0.8)
    names = [title for title, _ in panels]
    below.set_xticks(range(len(panels)), names, fontsize=8)
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return above


def later(results: Results, case: Case, variant: Variant, base: Variant = EEVDF) -> list[float]:
    """Return by which share runs end later than the same ones under another policy."""
    pairs = zip(*(results.values(case, one, "end") for one in (variant, base)), strict=True)
    return [end / other - 1 for end, other in pairs]


def saved(
    results: Results,
    case: Case,
    name: str,
    variant: Variant = DATA_AFFINITY,
    base: Variant = EEVDF,
) -> float:
    """Return by which share the mean of a figure is less than under another policy."""
    less, more = (mean(results.values(case, one, name)) for one in (variant, base))
    return 1 - less / more
