import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dfopt import Status, read_instance, read_result, replace
from dfopt.bench import Entry, Row, RowStatus, RunProgress, Settings, read_rows, read_set, run
from dfopt.bench.benchmark import Attempt
from dfopt.errors import DfoptError
from dfopt.files import write_instance
from dfopt.generate import zipf
from dfopt.verify import verify
from tests.bench.conftest import OPTIMA, PLAIN, write_named
from tests.patience import PATIENCE_S

QUICK = Settings(time_limit_s=30, workers=1)


def attempt(folder: Path, settings: Settings = QUICK) -> Attempt:
    (entry,) = read_set(folder)
    return Attempt(entry=entry, instance=entry.read(), settings=settings)


def row_of_misbehaviour(tmp_path: Path, name: str, **settings: float) -> Row:
    how = replace(QUICK, method="dp", **settings)
    return attempt(write_named(tmp_path / name, name), how).perform()[0]


@pytest.mark.slow
def test_every_instance_gets_its_row(entries: tuple[Entry, ...], tmp_path: Path) -> None:
    csv = tmp_path / "rows.csv"
    report = run(entries, csv, QUICK)
    assert report.is_complete
    assert (report.total, report.resumed) == (3, 0)
    assert read_rows(csv) == report.rows
    for row, entry in zip(report.rows, entries, strict=True):
        assert (row.instance, row.file, row.sha256) == (entry.instance, entry.file, entry.sha256)
        assert (row.status, row.stop_reason) == (RowStatus.OPTIMAL, "proof")
        assert row.objective == row.lower_bound == OPTIMA[row.instance]
        assert row.gap == 0
        assert row.certificate
        assert row.first_schedule_s is not None
        assert row.best_schedule_s is not None
        assert row.best_bound_s is not None
        assert 0 <= row.first_schedule_s <= row.best_schedule_s <= row.wall_time_s < 30
        assert row.best_bound_s <= row.wall_time_s
        assert (row.method, row.seed, row.workers, row.gap_limit) == ("auto", 0, 1, None)
        assert row.peak_memory_mib is not None
        assert 5 < row.peak_memory_mib < 500
        assert (row.verified, row.error) == ("", "")


@pytest.mark.usefixtures("in_this_process")
def test_resuming_runs_what_is_missing_and_nothing_else(
    entries: tuple[Entry, ...], tmp_path: Path
) -> None:
    csv = tmp_path / "rows.csv"
    first = run(entries[:2], csv, QUICK)
    before = csv.read_text()
    second = run(entries, csv, QUICK, resume=True)
    assert (second.total, second.resumed) == (3, 2)
    assert second.rows[:2] == first.rows
    assert csv.read_text().startswith(before)
    after = csv.read_text()
    assert run(entries, csv, QUICK, resume=True) == replace(second, resumed=3)
    assert csv.read_text() == after


@pytest.mark.usefixtures("in_this_process")
def test_rows_of_other_settings_are_kept_and_do_not_count(
    entries: tuple[Entry, ...], tmp_path: Path
) -> None:
    csv = tmp_path / "rows.csv"
    settings = [
        QUICK,
        replace(QUICK, method="dp"),
        replace(QUICK, seed=1),
        replace(QUICK, time_limit_s=29.5),
        replace(QUICK, gap_limit=0.5),
        replace(QUICK, workers=2),
    ]
    for setting in settings:
        report = run(entries[:1], csv, setting, resume=True)
        assert (report.total, report.resumed, len(report.rows)) == (1, 0, 1)
    assert len({row.key for row in read_rows(csv)}) == len(settings)
    assert len({setting.label for setting in settings}) == len(settings)


@pytest.mark.usefixtures("in_this_process")
def test_results_are_kept_and_true(entries: tuple[Entry, ...], tmp_path: Path) -> None:
    folder = tmp_path / "results"
    report = run(entries, tmp_path / "rows.csv", QUICK, results=folder, verify=True)
    assert [row.verified for row in report.rows] == ["yes"] * 3
    assert sorted(path.name for path in folder.iterdir()) == [
        f"{stem}.auto-s0-t30-w1.json" for stem in "abc"
    ]
    for row, stem in zip(report.rows, "abc", strict=True):
        result = read_result(folder / f"{stem}.auto-s0-t30-w1.json")
        assert (result.status, result.objective) == (Status.OPTIMAL, row.objective)
        assert verify(read_instance(row.file), result).ok


def test_two_results_of_one_name_are_refused(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "a.json"
    write_instance(replace(PLAIN, name="third"), other)
    csv = tmp_path / "rows.csv"
    with pytest.raises(DfoptError, match="would have the same name"):
        run(read_set(folder, other), csv, QUICK, results=tmp_path / "results")
    assert not csv.exists()


@pytest.mark.usefixtures("in_this_process")
def test_what_is_infeasible_is_proven(tmp_path: Path) -> None:
    write_instance(replace(PLAIN, capacity=1), tmp_path / "a.json")
    (row,) = run(read_set(tmp_path), tmp_path / "rows.csv", QUICK, verify=True).rows
    assert row.status is RowStatus.INFEASIBLE
    assert row.is_proven
    assert (row.objective, row.lower_bound, row.gap, row.certificate) == (None, None, None, "")
    assert row.verified == "yes"


@pytest.mark.slow
def test_a_limit_leaves_bound_and_schedule(tmp_path: Path) -> None:
    write_instance(zipf(tasks=200, cpus=8, fragments=30, seed=1), tmp_path / "a.json")
    settings = replace(QUICK, time_limit_s=0.3)
    (row,) = run(read_set(tmp_path), tmp_path / "rows.csv", settings, verify=True).rows
    assert (row.status, row.stop_reason) == (RowStatus.FEASIBLE, "time-limit")
    assert row.objective is not None
    assert row.lower_bound is not None
    assert row.gap == pytest.approx(1 - row.lower_bound / row.objective)
    assert row.verified == "yes"
    assert not row.is_proven


@pytest.mark.usefixtures("in_this_process")
def test_a_method_that_does_not_fit_is_said_in_the_row(tmp_path: Path) -> None:
    write_instance(zipf(tasks=60, cpus=2, fragments=6, seed=1), tmp_path / "a.json")
    (row,) = run(
        read_set(tmp_path), tmp_path / "rows.csv", replace(QUICK, method="exhaustive")
    ).rows
    assert row.status is RowStatus.NOT_APPLICABLE
    assert "'auto'" in row.error
    assert not row.is_wrong


@pytest.mark.slow
@pytest.mark.usefixtures("misbehaving")
def test_a_crash_is_a_row_and_the_others_go_on(tmp_path: Path) -> None:
    folder = write_named(tmp_path / "set", "raises", "dies", "exits", "prints", "fine")
    csv = tmp_path / "rows.csv"
    report = run(read_set(folder), csv, replace(QUICK, method="dp"), verify=True)
    raises, dies, exits, prints, fine = report.rows
    assert {row.status for row in (raises, dies, exits)} == {RowStatus.ERROR}
    assert all(row.is_wrong for row in (raises, dies, exits))
    assert raises.error == "ZeroDivisionError: a bug"
    assert dies.error == "ended by SIGKILL; was there enough memory?"
    assert exits.error == "ended with exit code 3"
    for row in (prints, fine):
        assert (row.status, row.verified, row.error) == (RowStatus.OPTIMAL, "yes", "")
    assert read_rows(csv) == report.rows


@pytest.mark.slow
@pytest.mark.usefixtures("misbehaving")
def test_a_result_that_is_wrong_is_found_out(tmp_path: Path) -> None:
    folder = write_named(tmp_path / "set", "lies")
    csv = tmp_path / "rows.csv"
    (row,) = run(read_set(folder), csv, replace(QUICK, method="dp"), verify=True).rows
    assert (row.status, row.verified) == (RowStatus.OPTIMAL, "no")
    assert row.error == "lower_bound: is 8, but some schedule is better"
    assert row.is_wrong


@pytest.mark.usefixtures("misbehaving")
def test_a_search_that_does_not_end_is_killed(
    tmp_path: Path, children: list["subprocess.Popen[bytes]"], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The process is killed long before its own limit of 600 s could end it.
    monkeypatch.setattr("dfopt.bench.benchmark.LONGEST_START_S", 2 - 2 * 600)
    row = row_of_misbehaviour(tmp_path, "hangs", time_limit_s=600)
    assert (row.status, row.error) == (RowStatus.ERROR, "killed: no answer after 2 s")
    assert 2 <= row.wall_time_s < PATIENCE_S
    (child,) = children
    assert child.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_memory_is_that_of_the_instance_alone(folder: Path) -> None:
    ballast = bytearray(os.urandom(1)) * 400_000_000
    (entry, *_) = read_set(folder)
    row = Attempt(entry=entry, instance=entry.read(), settings=QUICK).perform()[0]
    assert len(ballast) == 400_000_000
    assert row.peak_memory_mib is not None
    assert row.peak_memory_mib < 200


def test_a_process_loads_nothing_heavy_at_its_start() -> None:
    program = (
        "import sys, dfopt.parallel.alone, dfopt.bench.benchmark\n"
        "print(*{'numpy', 'ortools', 'matplotlib'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"\n"


@pytest.mark.usefixtures("in_this_process")
def test_progress_is_told(entries: tuple[Entry, ...], tmp_path: Path) -> None:
    csv = tmp_path / "rows.csv"
    run(entries[:1], csv, QUICK)
    told: list[RunProgress] = []
    run(entries, csv, QUICK, resume=True, on_progress=told.append)
    assert [(progress.done, progress.at_work) for progress in told] == [
        (1, ("plain-2",)),
        (2, ()),
        (2, ("table",)),
        (3, ()),
    ]
    assert {progress.total for progress in told} == {3}
    # What was there before says nothing of the pace.
    lefts = [progress.left_s for progress in told]
    assert lefts[0] is None
    assert lefts[1] > 0 == lefts[-1]


@pytest.mark.usefixtures("in_this_process")
def test_an_interrupt_ends_with_what_is_done(entries: tuple[Entry, ...], tmp_path: Path) -> None:
    csv = tmp_path / "rows.csv"

    def interrupt(progress: RunProgress) -> None:
        if progress.done == 1 and progress.at_work:
            raise KeyboardInterrupt

    report = run(entries, csv, QUICK, on_progress=interrupt)
    assert not report.is_complete
    assert (len(report.rows), report.total) == (1, 3)
    assert read_rows(csv) == report.rows
    assert run(entries, csv, QUICK, resume=True).is_complete


@pytest.mark.usefixtures("in_this_process")
def test_an_instance_that_goes_missing_ends_the_run(
    entries: tuple[Entry, ...], tmp_path: Path
) -> None:
    csv = tmp_path / "rows.csv"
    os.unlink(entries[1].file)
    with pytest.raises(DfoptError, match="there is no such file"):
        run(entries, csv, QUICK)
    assert [row.instance for row in read_rows(csv)] == ["plain-1"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"method": "magic"}, "unknown method 'magic'; known are auto"),
        ({"workers": 0}, "at least 1 worker"),
        ({"seed": -1}, "seed: must be at least 0"),
        ({"time_limit_s": -1}, "time limit: must be at least 0"),
        ({"time_limit_s": float("inf")}, "time limit: must be a finite number"),
        ({"time_limit_s": float("nan")}, "time limit: must be a finite number"),
        ({"gap_limit": 2}, "gap limit: must be between 0 and 1"),
    ],
)
def test_impossible_settings_are_refused(value: dict[str, float], problem: str) -> None:
    with pytest.raises(DfoptError, match=problem):
        Settings(**value)
