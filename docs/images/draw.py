"""Draws the README's picture: the two published schedules of the worked example."""

from pathlib import Path

from matplotlib.figure import Figure

from dfopt import read_instance, read_result
from dfopt.plot import plot_schedule, save_picture

ROOT = Path(__file__).resolve().parents[2]
INSTANCES = ROOT / "instances"
SCHEDULES = {
    "cpu-affinity": "tasks stay where they ran before",
    "data-affinity": "tasks run where their data lies, proven optimal",
}


def main() -> None:
    """Draw both schedules above each other, on one time axis."""
    instance = read_instance(INSTANCES / "pinter-worked-example.json")
    figure = Figure(figsize=(9, 5.2), layout="constrained")
    axes = figure.subplots(len(SCHEDULES), sharex=True)
    for ax, (name, title) in zip(axes, SCHEDULES.items(), strict=True):
        result = read_result(INSTANCES / "results" / f"pinter-worked-example.{name}.json")
        assert result.schedule is not None
        plot_schedule(instance, result.schedule, ax=ax)
        ax.set_title(title, loc="left")
    axes[0].set_xlabel("")
    axes[0].get_legend().remove()
    # The second schedule is drawn on the axis of the first, which takes longer.
    axes[0].set_xlim(0, 24.5)
    save_picture(figure, Path(__file__).with_name("worked-example.png"))


if __name__ == "__main__":
    main()
