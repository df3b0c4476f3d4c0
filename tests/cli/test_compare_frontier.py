"""Schedules that keep cause and effect, as the commands compare and plot frontier show them."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import dfopt.compare.compare
from dfopt.compare import CompareProgress
from dfopt.compare.attainable.frontier import WaitingFrontier
from dfopt.compare.attainable.frontier_of import frontier_of
from dfopt.files import schema
from tests.cli.conftest import Run
from tests.compare.examples import write_trace

WORKERS = Path(__file__).parents[2] / "docs/examples/workers.ftrace.txt"
"""Four workers on two CPUs with marks and wake-ups; the CPUs change their fragment twice."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``compare --json`` says of the workers, as the file that ``--save`` wrote."""
    from typer.testing import CliRunner

    from dfopt_cli.app import app

    folder = tmp_path_factory.mktemp("saved")
    arguments = ["compare", str(WORKERS), "--wait", "100us", "--save", str(folder), "--json"]
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.exit_code == 0
    path = folder / "comparison.json"
    assert json.loads(path.read_text()) == json.loads(outcome.stdout)
    return path


def test_the_table_comes_first(run: Run) -> None:
    code, out, err = run("compare", WORKERS, "--wait", "100us")
    assert (code, err) == (0, "")
    lines = [line.split("  ")[0] for line in out.splitlines()]
    begin = lines.index("recorded")
    assert lines[begin - 1] == "schedule"
    assert lines[begin : begin + 6] == [
        "recorded", "same timeline", "least recently used", "nobody later",
        "longest wait 100 µs",
        "same mean wait",
    ]  # fmt: skip
    assert lines[begin + 6].startswith("patience ")
    assert lines.index("attainable") < begin < lines.index("cause")
    assert "window" not in lines
    out = run("compare", WORKERS, "--foresight")[1]
    lines = [line.split("  ")[0] for line in out.splitlines()]
    assert lines.index("attainable") < lines.index("cause") < lines.index("window")


@pytest.mark.parametrize("command", [("info",), ("compare", "--order-free")])
def test_who_waited_longest_is_for_those_who_ask(run: Run, command: tuple[str, ...]) -> None:
    title = "Threads that waited longest in workers.ftrace.txt"
    code, out, err = run(*command, WORKERS, "--df", "marks", "-v")
    assert (code, err) == (0, "")
    rows = out.partition(title)[2].splitlines()
    assert ["502", "worker/1", "100", "µs", "100", "µs", "160", "µs", "1", "right"] in [
        row.split()[:10] for row in rows
    ]
    assert title not in run(*command, WORKERS, "--df", "marks")[1]


def test_the_document_has_the_rows(saved: Path) -> None:
    found = json.loads(saved.read_text())
    Draft202012Validator(schema("comparison")).validate(found)
    rows = found["frontier"]["rows"]
    assert rows[0]["scheduling"] == "recorded"
    assert rows[0]["cost"] == found["realised"]["total"] == 2
    assert (rows[0]["dispatches"], rows[0]["total_wait"]) == (9, 225_000)
    assert rows[0]["parallel_share"] == found["parallel_share"] == pytest.approx(0.154, abs=1e-3)
    assert [row["wait"] for row in rows if row["wait"] is not None] == [0, 100_000]
    assert found["frontier"]["complete"]


def test_what_is_saved_can_be_read(run: Run, saved: Path) -> None:
    names = {path.name for path in saved.parent.glob("*.jsonl")}
    assert {"nobody-later.jsonl", "longest-wait-100us.jsonl", "same-mean-wait.jsonl"} < names
    rows = json.loads(saved.read_text())["frontier"]["rows"]
    (limited,) = (row["cost"] for row in rows if row["wait"] == 100_000)
    code, out, _ = run("compare", saved.parent / "longest-wait-100us.jsonl", "--json")
    assert (code, json.loads(out)["realised"]["total"]) == (0, limited)


def test_no_schedule_is_written_over_what_is_read(run: Run, saved: Path) -> None:
    schedule = saved.parent / "nobody-later.jsonl"
    code, out, err = run("compare", schedule, "--save", saved.parent)
    assert (code, out) == (1, "")
    assert err == (
        f"dfopt: {schedule}: is a saved schedule, and schedules would be written over it; save "
        "into another folder (--save)\n"
    )


def test_saved_proofs_are_verified(run: Run, saved: Path) -> None:
    proofs = sorted(saved.parent.glob("*.proof.json"))
    assert {"nobody-later.proof.json", "nobody-later.with-lengths.proof.json"} <= {
        path.name for path in proofs
    }
    for proof in proofs:
        code, out, err = run("verify", WORKERS, proof)
        assert (code, err) == (0, "")
        assert "checked" in out


def test_the_frontier_can_be_left_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dfopt.compare.compare, "frontier_of", None)
    code, out, err = run("compare", WORKERS, "--order-free", "--json")
    assert (code, err, json.loads(out)["frontier"]) == (0, "", None)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--wait", "-1ms"), "'--wait': '-1ms' is no wait; write a time from 0 on"),
        (("--wait", "soon"), "'soon' is no wait"),
        (("--order-free", "--wait", "1ms"), "leaves out what --wait, --effort and --save are"),
        (("--order-free", "--effort", "2"), "leaves out what --wait, --effort and --save are"),
        (("--effort", "0"), "greater than or equal to 0.01"),
        (("--order-free", "--save", "folder"), "leaves out what --wait, --effort and --save are"),
    ],
)
def test_wrong_usage_is_2(run: Run, options: tuple[str, ...], problem: str) -> None:
    code, out, err = run("compare", WORKERS, *options)
    assert (code, out) == (2, "")
    assert problem in " ".join(err.split())


def test_a_wait_longer_than_the_trace_is_one_line(run: Run) -> None:
    assert run("compare", WORKERS, "--wait", "1s") == (
        1, "",
        f"dfopt: {WORKERS}: a wait of 1s is no limit in a trace that lasts 440 µs; permit "
        "less\n",
    )  # fmt: skip


def test_a_folder_that_cannot_be_is_one_line(run: Run, trace: Path) -> None:
    code, out, err = run("compare", trace, "--save", trace)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "is no folder to write to" in err


def test_a_trace_without_wakeups_says_what_to_record(run: Run, trace: Path) -> None:
    assert "the trace has no wake-ups" in " ".join(run("compare", trace)[1].split())
    code, out, err = run("compare", trace, "-v")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    assert "the trace has no wake-ups" in said
    assert "record sched:sched_waking" in said
    assert "assumed: starts and lengths as recorded; what has no fragment stays in place" in said
    assert "nobody later" not in out


def test_a_schedule_of_the_same_timeline_needs_no_wakeups(
    run: Run, tmp_path: Path, trace: Path
) -> None:
    assert run("compare", trace, "--save", tmp_path)[0] == 0
    schedule = tmp_path / "same-timeline.jsonl"
    code, out, err = run("verify", trace, schedule)
    assert (code, err) == (0, "")
    assert "verified: a schedule in which everything starts as recorded has" in out
    figures = json.loads(run("verify", trace, schedule, "--json")[1])["schedule"]
    assert (figures["permitted_wait"], figures["total_wait"]) == (0, None)
    *others, last = schedule.read_text().splitlines(keepends=True)
    late = json.loads(last)
    late |= {"start": late["start"] + 1, "end": late["end"] + 1}
    schedule.write_text("".join(others) + json.dumps(late))
    code, out, err = run("verify", trace, schedule)
    assert (code, out, err.count("\n")) == (1, "", 1)


def test_what_is_left_out_names_the_option(run: Run) -> None:
    out = run("compare", WORKERS, "--objective", "max-penalty")[1]
    assert "compare under total-penalty (--objective)" in " ".join(out.split())


def test_a_bad_trace_leaves_the_comparisons_before_it(run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text("\n".join(WORKERS.read_text().splitlines()[:4]))
    code, out, err = run("compare", WORKERS, bad)
    assert (code, err.count("\n")) == (1, 1)
    assert err.startswith(f"dfopt: {bad}: holds no sched_switch event")
    assert "nobody later" in out
    assert run("compare", bad, WORKERS)[:2] == (1, "")


@pytest.fixture
def _interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Ctrl-C come during the last schedule of a frontier."""

    def interrupted(*given: Any, **options: Any) -> WaitingFrontier:
        def stop(progress: CompareProgress) -> None:
            if progress.at_work == "schedule, same mean wait":
                raise KeyboardInterrupt

        return frontier_of(*given, **{**options, "on_progress": stop})

    monkeypatch.setattr(dfopt.compare.compare, "frontier_of", interrupted)


@pytest.mark.usefixtures("_interrupted")
def test_ctrl_c_keeps_the_rows_that_are_done(run: Run, tmp_path: Path) -> None:
    code, out, err = run("compare", WORKERS, "--save", tmp_path)
    assert (code, err) == (4, "dfopt: interrupted; what is finished is shown\n")
    assert "other rows are left out" in out
    assert "same timeline" in out
    assert "same mean wait" not in out
    assert (tmp_path / "same-timeline.jsonl").exists()
    assert not (tmp_path / "same-mean-wait.jsonl").exists()


def test_traces_stand_side_by_side(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    other = tmp_path / "other.txt"
    other.write_text(WORKERS.read_text())
    code, out, err = run("compare", WORKERS, other, "-v")
    assert (code, err) == (0, "")
    assert sum("nobody later  " in line for line in out.splitlines()) == 2
    assert all(len(line) <= 80 for line in out.split("Order-free")[0].splitlines())


def test_several_traces_are_saved_apart(run: Run, tmp_path: Path, trace: Path) -> None:
    other = write_trace(tmp_path / "other.jsonl")
    folder = tmp_path / "saved"
    assert run("compare", trace, other, "--save", folder)[0] == 0
    found = {str(path.relative_to(folder)) for path in folder.rglob("same-timeline.jsonl")}
    assert found == {"trace.jsonl/same-timeline.jsonl", "other.jsonl/same-timeline.jsonl"}


@pytest.mark.slow
def test_a_frontier_is_drawn_of_traces_and_of_comparisons(
    run: Run, tmp_path: Path, saved: Path
) -> None:
    for name, files in (("a", [WORKERS]), ("b", [saved]), ("c", [saved, WORKERS])):
        path = tmp_path / f"{name}.svg"
        assert run("plot", "frontier", *files, "-o", path) == (0, "", "")
        assert path.stat().st_size > 1000


def test_what_has_no_frontier_is_left_out_beside_others(
    run: Run, tmp_path: Path, saved: Path, trace: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_text(run("compare", trace, "--json")[1])
    picture = tmp_path / "a.svg"
    code, out, err = run("plot", "frontier", saved, other, "-o", picture)
    assert (code, out, err.count("\n")) == (0, "", 1)
    assert err.startswith("dfopt: warning: trace.jsonl: has no frontier to draw: the trace has no")
    assert picture.exists()


def test_what_has_no_frontier_is_not_drawn(run: Run, tmp_path: Path, trace: Path) -> None:
    output = tmp_path / "a.svg"
    code, out, err = run("plot", "frontier", trace, "-o", output)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "has no frontier to draw: the trace has no wake-ups" in err
    old = tmp_path / "old.json"
    old.write_text(run("compare", trace, "--order-free", "--json")[1])
    code, out, err = run("plot", "frontier", old, "-o", output)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "has no frontier; compare it again with one" in err
    assert not output.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("_interrupted")
def test_what_ctrl_c_leaves_is_drawn(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "a.svg"
    code, _, err = run("plot", "frontier", WORKERS, "-o", picture)
    assert (code, err) == (4, "dfopt: interrupted; what is finished is drawn\n")
    assert picture.stat().st_size > 1000
