"""``dfopt plot``."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

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


def test_a_part_is_written_by_the_clock_of_the_trace(run: Run, tmp_path: Path) -> None:
    written = [tmp_path / "clock.jsonl", tmp_path / "length.jsonl"]
    for path, end in zip(written, ("@100.000300", "300us"), strict=True):
        assert run("trace", "convert", WORKERS, path, "--to", end)[0] == 0
    assert written[0].read_text() == written[1].read_text()


def test_times_beside_the_trace_say_how_its_clock_is_written(run: Run, tmp_path: Path) -> None:
    arguments = ("trace", "convert", WORKERS, "--df", "marks", tmp_path / "trace.jsonl")
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
