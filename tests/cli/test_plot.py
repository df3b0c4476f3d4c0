"""``dfopt plot``."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.trace.readers.kernel_lines import Switch, perf, text_of

WORKERS = Path(__file__).parents[2] / "docs/examples/workers.ftrace.txt"
"""A trace whose clock goes from 100 s on."""


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_schedule_is_drawn(
    run: Run, tmp_path: Path, instance_file: Path, result_file: Path, ending: str
) -> None:
    path = tmp_path / f"schedule.{ending}"
    assert run("plot", "schedule", instance_file, result_file, "-o", path) == (0, "", "")
    assert path.stat().st_size > 1000


@pytest.mark.parametrize("name", ["schedule.jpg", "schedule"])
def test_unknown_endings_are_refused(
    run: Run, tmp_path: Path, instance_file: Path, result_file: Path, name: str
) -> None:
    path = tmp_path / name
    code, out, err = run("plot", "schedule", instance_file, result_file, "-o", path)
    assert (code, out) == (1, "")
    assert err.startswith(f"dfopt: {path}: ")
    assert ".svg, .png or .pdf" in err
    assert not path.exists()


def changed(path: Path, **values: object) -> Path:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
    return path


def test_a_result_of_another_instance_is_refused(
    run: Run, tmp_path: Path, instance_file: Path, result_file: Path
) -> None:
    changed(instance_file, name="other")
    path = tmp_path / "a.svg"
    code, _, err = run("plot", "schedule", instance_file, result_file, "-o", path)
    assert code == 1
    assert err.startswith(
        f"dfopt: {result_file}: instance.sha256: belongs to another instance, worked-example;"
    )
    assert not path.exists()


def test_a_result_without_schedule_is_refused(
    run: Run, tmp_path: Path, instance_file: Path, result_file: Path
) -> None:
    changed(result_file, status="unknown", objective=None, gap=None, schedule=None)
    code, _, err = run("plot", "schedule", instance_file, result_file, "-o", tmp_path / "a.svg")
    assert code == 1
    assert err.startswith(f"dfopt: {result_file}: schedule: is null")


def test_a_wrong_cost_is_refused(
    run: Run, tmp_path: Path, instance_file: Path, result_file: Path
) -> None:
    schedule = json.loads(result_file.read_text())["schedule"]
    schedule["cpus"][0]["cost"] = 12
    changed(result_file, schedule=schedule)
    code, _, err = run("plot", "schedule", instance_file, result_file, "-o", tmp_path / "a.svg")
    assert code == 1
    assert err == (f"dfopt: {result_file}: schedule.cpus[0].cost: is 12, but these tasks cost 11\n")


def test_an_output_is_needed(run: Run, instance_file: Path, result_file: Path) -> None:
    code, _, err = run("plot", "schedule", instance_file, result_file)
    assert code == 2
    assert "--output" in err


def test_a_part_of_a_trace_is_drawn(run: Run, tmp_path: Path, trace: Path) -> None:
    path = tmp_path / "trace.svg"
    arguments = ("plot", "trace", trace, "-o", path)
    assert run(*arguments, "--from", "5ns", "--to", "35") == (0, "", "")
    assert "time since the trace begins (ns)" in path.read_text()
    code, _, err = run(*arguments, "--from", "15", "--to", "15")
    assert (code, err) == (
        1,
        f"dfopt: {trace}: the part from 15 ns to 15 ns ends before it begins; let it end later\n",
    )
    code, _, err = run(*arguments, "--from", "1us")
    assert (code, err) == (
        1,
        f"dfopt: {trace}: nothing ran from 1 µs on; choose another part of the trace, which "
        "lasts 50 ns\n",
    )
    assert run(*arguments, "--to", "soon")[0] == 2
    code, _, err = run(*arguments, "--domains", "0")
    assert (code, err) == (
        1,
        f"dfopt: {trace}: domains: hold only CPU 0, but the trace has CPU 1, too; give it a "
        "domain\n",
    )


def test_a_part_without_fragments_says_where_they_run(run: Run, tmp_path: Path) -> None:
    rows = [(0, 0, 10_000, None), (0, 10_000, 20_000, "x"), (0, 35_000, 40_000, "y")]
    header = {
        "format": "dfopt-trace/1", "cpus": 1, "time_unit": "ns", "source": "made for this test",
    }  # fmt: skip
    dispatches = [
        {"cpu": cpu, "start": start, "end": end, "task": f"t{start}", "df": df}
        for cpu, start, end, df in rows
    ]
    path = tmp_path / "late.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [header, *dispatches]))
    arguments = ("plot", "trace", path, "-o", tmp_path / "part.svg", "--from")
    assert run(*arguments, "0", "--to", "10us") == (
        0,
        "",
        f"dfopt: {path}: warning: hardly any dispatch with a fragment runs in this part; "
        "--from 10us --to 20us shows more of them\n",
    )
    assert run(*arguments, "9us", "--to", "19us")[2] == ""
    assert run(*arguments, "0")[2] == ""


def test_a_trace_without_labels_is_refused_as_in_a_comparison(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "perf.txt"
    switches = [Switch(0, 10, (7, b"a"), (8, b"b")), Switch(0, 20, (8, b"b"), (7, b"a"))]
    path.write_bytes(text_of(switches, perf))
    code, _, err = run("plot", "trace", path, "-o", tmp_path / "grey.svg")
    assert code == 1
    assert err == run("compare", path)[2]
    assert not (tmp_path / "grey.svg").exists()


def test_a_part_is_chosen_by_the_clock_of_the_trace(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "trace.svg"
    arguments = ("plot", "trace", WORKERS, "--df", "marks", "-o", path)
    assert run(*arguments, "--from", "@100.0001", "--to", "@100.000300")[0] == 0
    by_clock = path.read_text()
    begin = json.loads(run("info", WORKERS, "--json")[1])["start"]
    limits = (f"{100_000_100_000 - begin}", f"{100_000_300_000 - begin}ns")
    assert run(*arguments, "--from", limits[0], "--to", limits[1])[0] == 0
    assert path.read_text() == by_clock


def test_a_part_is_written_by_the_clock_of_the_trace(run: Run, tmp_path: Path) -> None:
    written = [tmp_path / "clock.jsonl", tmp_path / "length.jsonl"]
    for path, end in zip(written, ("@100.000300", "300us"), strict=True):
        assert run("trace", "convert", WORKERS, path, "--to", end)[0] == 0
    assert written[0].read_text() == written[1].read_text()


def test_times_beside_the_trace_say_how_its_clock_is_written(run: Run, tmp_path: Path) -> None:
    arguments = ("plot", "trace", WORKERS, "--df", "marks", "-o", tmp_path / "trace.svg")
    clock = "clock goes from @100.000000 to @100.000440; choose a time between them\n"
    code, _, err = run(*arguments, "--from", "@99")
    assert (code, err.endswith(clock)) == (1, True)
    code, _, err = run(*arguments, "--from", "100000100us")
    assert code == 1
    assert err.endswith(
        "a time of the trace's own clock begins with @ and is in seconds: @100.000100\n"
    )
    for wrong, hint in (
        ("100.0001", "begins with @ (@14510.651211)"),
        ("@1.", "is no time of a clock"),
    ):
        code, _, err = run(*arguments, "--to", wrong)
        assert (code, hint in " ".join(err.split())) == (2, True)
