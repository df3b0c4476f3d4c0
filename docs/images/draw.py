"""Draws pictures of README and tutorial: hackbench, the worked example, and policies."""

import sys
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dfopt import read_instance, read_result
from dfopt.compare import Comparison, CostModel, compare_trace, parse_window
from dfopt.plot import plot_attainable, plot_policies, plot_schedule, save_picture
from dfopt.simulate.run_queue import POLICIES, read_scenario, simulate_once

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

import hackbench  # noqa: E402

INSTANCES = ROOT / "instances"
SCHEDULES = {
    "cpu-affinity": "tasks stay where they ran before",
    "data-affinity": "tasks run where their data lies, proven optimal",
}
POLICIES_SHOWN = ("linux-o1", "data-affinity", "smpbatch-smash", "tlms-2", "fcfs", "clairvoyant")
WINDOWS = ("20", "50", "100", "200", "500", "1000", "whole")


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


def attainable() -> Axes:
    """Return what the kernel paid for a recording, and what was attainable."""
    return plot_attainable([compare_trace(hackbench.recording("4"), windows=(), waits=())])


def frontier() -> Axes:
    """Return what was attainable for the same recording, at which waiting."""
    return hackbench.frontier(["4"])


def chat_under(policy: str) -> Comparison:
    """Return how far a policy is from the optimum on chat rooms."""
    trace = simulate_once(read_scenario("chat"), POLICIES[policy]).trace
    assert trace.header.penalty is not None
    model = CostModel(penalty=trace.header.penalty, cold_start=bool(trace.header.cold_start))
    return compare_trace(trace, model, windows=[parse_window(window) for window in WINDOWS])


def main() -> None:
    """Draw the pictures beside this file."""
    save_picture(worked_example(), Path(__file__).with_name("worked-example.png"))
    save_picture(attainable(), Path(__file__).with_name("attainable.png"))
    save_picture(frontier(), Path(__file__).with_name("frontier.png"))
    policies = plot_policies([chat_under(policy) for policy in POLICIES_SHOWN])
    save_picture(policies, Path(__file__).with_name("policies.png"))


if __name__ == "__main__":
    main()
