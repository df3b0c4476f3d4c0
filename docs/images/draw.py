"""Draws the README's pictures: the schedules of the worked example, and hackbench's foresight."""

import sys
from pathlib import Path

from matplotlib.figure import Figure

from dfopt import read_instance, read_result
from dfopt.plot import plot_schedule, save_picture

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

import hackbench  # noqa: E402

INSTANCES = ROOT / "instances"
SCHEDULES = {
    "cpu-affinity": "tasks stay where they ran before",
    "data-affinity": "tasks run where their data lies, proven optimal",
}


def worked_example() -> Figure:
    """Return both schedules above each other, on one time axis."""
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
    return figure


def foresight() -> Figure:
    """Return what the kernel paid for both recordings, and what foresight would have saved."""
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    hackbench.foresight(["4", "16"], ax=figure.subplots())
    return figure


def main() -> None:
    """Draw the pictures beside this file."""
    save_picture(worked_example(), Path(__file__).with_name("worked-example.png"))
    save_picture(foresight(), Path(__file__).with_name("foresight.png"))


if __name__ == "__main__":
    main()
