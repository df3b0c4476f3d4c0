"""The same work on a Dask cluster."""

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dfopt.bench import Entry, RowStatus, RunProgress, Settings, read_rows, read_set, run
from dfopt.bench.attempt import Attempt
from dfopt.bench.run import results_of
from dfopt.errors import DfoptError
from dfopt.parallel.dask_cluster import AHEAD
from tests.bench.conftest import OPTIMA, ends, wait_for_id, write_named
from tests.parallel.running_cluster import give_up_soon, running_cluster

distributed = pytest.importorskip(
    "distributed", reason="needs the package distributed, the extra 'cluster'"
)

QUICK = Settings(time_limit_s=30, workers=1)
WORKERS = 2


@pytest.fixture(scope="module")
def dask() -> Iterator[list[str]]:
    """The addresses of a scheduler and of two workers, which are processes of their own."""
    with running_cluster(WORKERS, "processes") as (addresses, _):
        yield addresses


@pytest.mark.slow
def test_the_cluster_gives_the_rows_that_this_machine_gives(
    entries: tuple[Entry, ...], tmp_path: Path, dask: list[str]
) -> None:
    here = run(entries, tmp_path / "here.csv", QUICK)
    there = run(
        entries,
        tmp_path / "there.csv",
        QUICK,
        scheduler=dask[0],
        verify=True,
        results=tmp_path / "results",
    )
    assert there.is_complete
    for one, other in zip(here.rows, there.rows, strict=True):
        assert (one.key, one.status, one.objective) == (other.key, other.status, other.objective)
        assert other.objective == OPTIMA[other.instance]
        assert other.verified == "yes"
    assert {row.key for row in read_rows(tmp_path / "there.csv")} == {row.key for row in there.rows}
    assert len(list((tmp_path / "results").iterdir())) == len(entries)


@pytest.mark.slow
def test_what_one_began_the_other_resumes(
    entries: tuple[Entry, ...], tmp_path: Path, dask: list[str]
) -> None:
    csv = tmp_path / "rows.csv"
    run(entries[:1], csv, QUICK)
    report = run(entries, csv, QUICK, resume=True, scheduler=dask[0])
    assert (report.total, report.resumed, len(report.rows)) == (3, 1, 3)
    assert len(read_rows(csv)) == 3


@pytest.mark.slow
def test_many_instances_are_sent_a_few_at_a_time(tmp_path: Path, dask: list[str]) -> None:
    entries = read_set(write_named(tmp_path / "set", *(f"fine-{number}" for number in range(7))))
    most = 0

    def watch(progress: RunProgress) -> None:
        nonlocal most
        most = max(most, len(progress.at_work))

    report = run(
        entries,
        tmp_path / "rows.csv",
        QUICK,
        scheduler=dask[0],
        on_progress=watch,
    )
    assert report.is_complete
    assert 1 < most <= AHEAD * WORKERS


@pytest.mark.slow
def test_files_are_read_by_the_client_alone(
    entries: tuple[Entry, ...], tmp_path: Path, dask: list[str]
) -> None:
    # What a worker gets must suffice without a file: these are gone before it begins.
    attempts = [
        Attempt(entry=entry, document=entry.document(), settings=QUICK) for entry in entries
    ]
    for entry in entries:
        os.unlink(entry.file)
    results = list(results_of(iter(attempts), dask[0]))
    assert sorted(result.row.instance for result in results) == sorted(OPTIMA)


@pytest.mark.slow
@pytest.mark.usefixtures("misbehaving")
def test_a_crash_is_a_row_there_too(tmp_path: Path) -> None:
    entries = read_set(write_named(tmp_path / "set", "dies", "fine"))
    settings = replace(QUICK, method="dp")
    with running_cluster(1) as ((scheduler, _), _):
        report = run(entries, tmp_path / "rows.csv", settings, scheduler=scheduler)
    assert [row.status for row in report.rows] == [RowStatus.ERROR, RowStatus.OPTIMAL]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("tcp://127.0.0.1:1", "no Dask scheduler answers"),
        ("nonsense", "missing port"),
        ("magic://here:1", "unknown address scheme"),
        ("", "missing port"),
    ],
)
def test_an_address_without_a_scheduler_is_refused(
    entries: tuple[Entry, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    problem: str,
) -> None:
    monkeypatch.setattr("dfopt.parallel.dask_cluster.PATIENCE_S", 1)
    csv = tmp_path / "rows.csv"
    with pytest.raises(DfoptError, match=f"scheduler '{address}': .*{problem}"):
        run(entries, csv, QUICK, scheduler=address)
    assert not csv.exists()


@pytest.mark.slow
def test_a_scheduler_that_goes_away_ends_the_run(
    tmp_path: Path, misbehaving: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = read_set(write_named(tmp_path / "set", "hangs"))
    csv = tmp_path / "rows.csv"
    give_up_soon(monkeypatch)
    with running_cluster(1) as ((scheduler, _), process):

        def kill() -> None:
            wait_for_id(misbehaving)
            process.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(DfoptError, match="has gone away; go on with `resume`"):
            run(entries, csv, replace(QUICK, method="dp"), scheduler=scheduler)
        killer.join()
    assert read_rows(csv) == ()
    assert ends(wait_for_id(misbehaving))


@pytest.mark.slow
def test_so_does_one_that_goes_while_rows_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = read_set(write_named(tmp_path / "set", *(f"fine-{number}" for number in range(6))))
    csv = tmp_path / "rows.csv"
    give_up_soon(monkeypatch)
    with running_cluster(1) as ((scheduler, _), process):

        def kill(progress: RunProgress) -> None:
            if progress.done == 2:
                process.kill()
                process.wait()
                time.sleep(0.5)  # until the connection notices

        with pytest.raises(DfoptError, match="has gone away; go on with `resume`"):
            run(entries, csv, QUICK, scheduler=scheduler, on_progress=kill)
    assert len(read_rows(csv)) == 2
    assert run(entries, csv, QUICK, resume=True).resumed == 2
