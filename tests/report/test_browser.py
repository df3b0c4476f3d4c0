"""The page of a report as a browser shows it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, run  # noqa: F401 - a fixture
from tests.compare.examples import write_trace
from tests.report.browser import browser

OPTIONS = ("--window", "5", "--window", "whole", "--workers", "1")
PHONE = 390

READY = """
const done = arguments[0], root = document.documentElement;
(function look() { root.dataset.ready ? done(true) : setTimeout(look, 50); })();
"""
RANGE = "const range = views.find((v) => v.model.name === 'gantt-1').model.x_range; return "
FIRST = RANGE.replace("gantt-1", "gantt-0") + "[range.start, range.end]"
TOUCH = """
const find = (root) => [...root.querySelectorAll("*")].flatMap(
  (e) => e.className === "bk-layer bk-events" ? [e] : e.shadowRoot ? find(e.shadowRoot) : []);
return getComputedStyle(find(document.getElementById("chart-gantt-1"))[0]).touchAction;
"""
FOREIGN = """
document.title = "untouched";
document.body.insertAdjacentHTML("beforeend", "<img src='data:,' onerror='document.title = 1'>");
document.body.lastChild.addEventListener("error", () => arguments[0](document.title));
"""
DRAWN = """
const done = arguments[0];
requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
"""
AXIS = "return views[0].model.below[0].major_label_text_color"


@pytest.mark.slow
def test_a_reader_sees_the_figures(run: Run, tmp_path: Path) -> None:  # noqa: F811
    rows = [(n % 2, 20 * n, f"t{n % 5}", f"<b>d{n % 3}</b>") for n in range(40)]
    trace, page = write_trace(tmp_path / "trace.jsonl", rows, time_unit="us"), tmp_path / "r.html"
    second = write_trace(tmp_path / "second.jsonl", rows[:30], time_unit="us")
    code, printed, _ = run("compare", trace, second, *OPTIONS, "--json")
    assert code == 0
    expected = json.loads(printed)
    with browser(tmp_path / "profile") as reader:
        assert run("report", trace, second, *OPTIONS, "-o", page)[0] == 0
        media(reader, "light")
        reader.get(page.as_uri())
        assert reader.execute_async_script(READY)

        shown = "return document.getElementById('comparison').textContent"
        assert json.loads(reader.execute_script(shown)) == expected
        for number, found in enumerate(expected["traces"]):
            table = f"#windows-{number} tr"
            rows = reader.execute_script(
                f"return [...document.querySelectorAll('{table}')]"
                ".map((row) => [...row.children].map((cell) => cell.textContent))"
            )
            assert [row[:3] for row in rows[1:]] == [
                [window["window"], f"{window['realised']:,}", f"{window['bound']:,}"]
                for window in found["windows"]
            ]

        from selenium.webdriver.common.by import By
        from selenium.webdriver.common.keys import Keys

        chart = reader.find_element(By.ID, "pan-1")
        start, end = reader.execute_script(f"{RANGE}[range.start, range.end]")
        whole = reader.execute_script(FIRST)
        chart.send_keys("+")
        assert reader.execute_script(f"{RANGE}range.end - range.start") == (end - start) / 2
        chart.send_keys(Keys.HOME + "+" + Keys.ARROW_RIGHT)
        assert reader.execute_script(f"{RANGE}range.start") > (end - start) / 4
        assert reader.execute_script(FIRST) == whole
        chart.send_keys("0")
        assert reader.execute_script(f"{RANGE}[range.start, range.end]") == [start, end]

        light = reader.execute_script(AXIS)
        media(reader, "dark")
        colour = "return getComputedStyle(document.body).backgroundColor"
        assert reader.execute_script(colour) == "rgb(22, 22, 26)"
        assert reader.execute_script(AXIS) != light

        phone = {"width": PHONE, "height": 800, "deviceScaleFactor": 1, "mobile": True}
        reader.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
        assert reader.execute_script("return document.documentElement.scrollWidth") == PHONE
        assert reader.execute_script(TOUCH) == "pan-y"  # a finger also scrolls over the chart
        assert not [line for line in reader.get_log("browser") if line["level"] == "SEVERE"]
        # Should a name ever become HTML, nothing in it runs.
        assert reader.execute_async_script(FOREIGN) == "untouched"


def media(reader: Any, scheme: str) -> None:
    """Let the browser prefer light or dark pages, and wait until it has drawn one."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    reader.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    reader.execute_async_script(DRAWN)
