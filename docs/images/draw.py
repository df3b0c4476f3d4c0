"""Draws pictures of the docs: hackbench, the worked example, policies, and a report."""

import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from dfopt import read_instance, read_result
from dfopt.compare import Comparison, CostModel, compare_trace, parse_window
from dfopt.compare.written_times import parse_wait
from dfopt.plot import plot_attainable, plot_foresight, plot_schedule, save_picture
from dfopt.report import report_page
from dfopt.simulate import POLICIES, read_scenario, simulate_once

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "_ext")]

import hackbench  # noqa: E402

from tests.report.browser import browser  # noqa: E402

INSTANCES = ROOT / "instances"
SCHEDULES = {
    "cpu-affinity": "tasks stay where they ran before",
    "data-affinity": "tasks run where their data lies, proven optimal",
}
POLICIES_SHOWN = ("linux-o1", "data-affinity", "smpbatch-smash", "tlms-2", "fcfs")
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
    # The second schedule is drawn on the axis of the first, which takes longer.
    axes[0].set_xlim(0, 23)
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
    return compare_trace(
        trace, model, windows=[parse_window(window) for window in WINDOWS], waits=None
    )


def report() -> Image.Image:
    """Return a report in a browser: its beginning, and its Gantt chart on a phone in the dark."""
    trace = hackbench.recording("4")
    windows = [parse_window(window) for window in ("20", "50", "200", "whole")]
    found = compare_trace(trace, windows=windows, waits=[parse_wait("1ms")])
    page = report_page(
        [found],
        [trace],
        command="dfopt report hackbench-4.txt.gz",
    )
    parts = []
    with TemporaryDirectory() as folder, browser(Path(folder) / "profile") as reader:
        file = Path(folder) / "report.html"
        file.write_text(page, "utf-8")
        for scheme, width, section in (("light", 780, "trace"), ("dark", 390, "gantt")):
            size = {"width": width, "height": 1010, "deviceScaleFactor": 1, "mobile": True}
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            reader.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            reader.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            reader.get(file.as_uri())
            while not reader.execute_script("return document.documentElement.dataset.ready"):
                sleep(0.1)
            if scheme == "dark":
                reader.execute_script(f"document.getElementById('{section}').scrollIntoView()")
            sleep(1)  # until the charts are drawn
            parts.append(Image.open(BytesIO(reader.get_screenshot_as_png())).convert("RGB"))
    space = 24
    picture = Image.new("RGB", (sum(part.width for part in parts) + space, 1010), "white")
    picture.paste(parts[0], (0, 0))
    picture.paste(parts[1], (parts[0].width + space, 0))
    return picture.quantize(128)


def main() -> None:
    """Draw the pictures beside this file."""
    save_picture(worked_example(), Path(__file__).with_name("worked-example.png"))
    save_picture(attainable(), Path(__file__).with_name("attainable.png"))
    save_picture(frontier(), Path(__file__).with_name("frontier.png"))
    report().save(Path(__file__).with_name("report.png"), optimize=True)
    policies = plot_foresight([chat_under(policy) for policy in POLICIES_SHOWN])
    save_picture(policies, Path(__file__).with_name("policies.png"))


if __name__ == "__main__":
    main()
