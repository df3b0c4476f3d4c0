"""``dfopt plot foresight``."""

from pathlib import Path

import pytest

import dfopt.compare
import dfopt.plot
from dfopt import replace
from tests.cli.conftest import Run

MIXED = ("--window", "5", "--window", "5us")


@pytest.mark.slow
def test_pictures_are_drawn_from_traces_and_from_saved_comparisons(
    run: Run, tmp_path: Path, trace: Path
) -> None:
    saved = tmp_path / "saved.json"
    saved.write_text(run("compare", trace, "--foresight", "--json")[1])
    for name, files in (("a", [trace]), ("b", [saved]), ("c", [saved, trace])):
        path = tmp_path / f"{name}.svg"
        assert run("plot", "foresight", *files, "-o", path) == (0, "", "")
        assert path.stat().st_size > 1000


def test_pictures_that_cannot_be_drawn(
    run: Run, tmp_path: Path, trace: Path, instance_file: Path
) -> None:
    saved = tmp_path / "saved.json"
    saved.write_text(run("compare", trace, "--json")[1])
    output = tmp_path / "a.svg"
    for code, arguments, problem in [
        (1, (trace, "-o", tmp_path / "a.jpg"), ".svg, .png or .pdf"),
        (1, (instance_file, "-o", output), "a trace is due here"),
        (1, (tmp_path / "none", "-o", output), "there is no such file"),
        (1, (saved, "-o", saved), ".svg, .png or .pdf"),
        (2, (saved, "--fill", "3", "-o", output), "have their labels, costs and windows"),
        (2, (trace, "--window", "0", "-o", output), "is no window"),
        (2, (trace, trace, *MIXED, "-o", output), "share no axis; draw them one by one"),
        (2, ("-", "-", "-o", output), "standard input (-) can be read once only"),
        (1, (trace, "-o", ""), "dfopt: '': is no picture format"),
    ]:
        found, out, err = run("plot", "foresight", *arguments)
        assert (found, out) == (code, "")
        assert problem in " ".join(err.split())
    assert not output.exists()


def test_no_picture_is_drawn_of_nothing_known(
    run: Run, tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, output = dfopt.compare.compare_trace, tmp_path / "a.svg"
    monkeypatch.setattr(
        dfopt.compare,
        "compare_trace",
        lambda *rest, **more: replace(whole(*rest, **more), windows=(), is_complete=False),
    )
    assert run("plot", "foresight", trace, "-o", output) == (130, "", "")
    assert not output.exists()


def test_what_is_not_finished_is_not_drawn_beside_what_is(
    run: Run, tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, drawn = dfopt.compare.compare_trace, []
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    for file in (first, second):
        file.write_text(trace.read_text().replace("trace.jsonl", file.name))
    counted = iter((True, False))
    monkeypatch.setattr(
        dfopt.compare,
        "compare_trace",
        lambda *rest, **more: replace(whole(*rest, **more), is_complete=next(counted)),
    )
    draw = dfopt.plot.plot_foresight
    monkeypatch.setattr(
        dfopt.plot, "plot_foresight", lambda found: drawn.extend(found) or draw(found)
    )
    code, out, err = run("plot", "foresight", first, second, "-o", tmp_path / "a.svg")
    assert (code, out, err) == (4, "", "dfopt: interrupted; what is finished is drawn\n")
    assert [comparison.is_complete for comparison in drawn] == [True]


def test_different_costs_on_one_axis_are_told(run: Run, tmp_path: Path, trace: Path):
    saved = tmp_path / "saved.json"
    saved.write_text(run("compare", trace, "--fill", "3", "--write-back", "1", "--json")[1])
    code, out, err = run("plot", "foresight", trace, saved, "-o", tmp_path / "a.svg")
    assert (code, out) == (0, "")
    assert err.startswith("dfopt: warning: the traces have different costs, on one axis")


def test_windows_that_share_no_axis(run: Run, tmp_path: Path, trace: Path) -> None:
    windows = ("--window", "5", "--window", "10ns")
    code, out, err = run("plot", "foresight", trace, *windows, "-o", tmp_path / "a.svg")
    assert (code, out) == (2, "")
    assert "--window: windows in dispatches and windows in time share no axis" in err
