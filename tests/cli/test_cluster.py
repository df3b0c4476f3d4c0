"""The option --scheduler: the same work on a Dask cluster."""

import json
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dfopt.bench import Settings, read_rows, read_set, run
from dfopt.errors import DfoptError
from dfopt_cli import cluster
from dfopt_cli.cluster import cluster_at
from tests.bench.conftest import OPTIMA, ends, wait_for_id, write_named
from tests.bench.conftest import folder as folder  # noqa: PLC0414 - a fixture
from tests.bench.conftest import misbehaving as misbehaving  # noqa: PLC0414 - a fixture
from tests.cli.conftest import Run
from tests.running_cluster import give_up_soon, running_cluster

distributed = pytest.importorskip(
    "distributed", reason="needs the package distributed, the extra 'cluster'"
)


@pytest.fixture(autouse=True)
def _same_log() -> Iterator[None]:
    log = logging.getLogger("distributed")
    before = log.level
    yield
    log.setLevel(before)


def test_without_an_address_there_is_none() -> None:
    with cluster_at(None) as executor:
        assert executor is None


@pytest.mark.slow
def test_a_cluster_gives_the_rows_and_comparisons_of_this_machine(
    run: Run, folder: Path, trace: Path, tmp_path: Path
) -> None:
    with running_cluster(1, "processes") as ((address, _), _):
        rows = tmp_path / "rows.csv"
        run("bench", folder, "-o", rows, "--scheduler", address, "--verify")
        assert {row.instance: row.objective for row in read_rows(rows)} == OPTIMA
        assert {row.verified for row in read_rows(rows)} == {"yes"}
        compared = ("compare", trace, "--json")
        there = json.loads(run(*compared, "--scheduler", address)[1])
        assert there == json.loads(run(*compared)[1])


@pytest.mark.slow
@pytest.mark.usefixtures("misbehaving")
def test_a_crash_is_a_row_there_too(tmp_path: Path) -> None:
    entries = read_set(write_named(tmp_path / "set", "dies", "fine"))
    settings = Settings(method="dp", workers=1)
    with running_cluster(1) as ((address, _), _), cluster_at(address) as executor:
        report = run(entries, tmp_path / "rows.csv", settings, executor=executor)
    assert [str(row.status) for row in report.rows] == ["error", "optimal"]


@pytest.mark.slow
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "magic://here:1", ""])
def test_an_address_without_a_scheduler_is_refused(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(cluster, "PATIENCE_S", 1)
    with pytest.raises(DfoptError, match=f"^scheduler '{address}': no") as caught:
        cluster_at(address).__enter__()
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_scheduler_without_workers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE_S", 1)
    with running_cluster(0) as ((address,), _), pytest.raises(DfoptError, match="no Dask workers"):
        cluster_at(address).__enter__()


def test_without_the_extra_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DfoptError, match=r"pip install 'dfopt\[cluster\]'"):
        cluster_at("tcp://127.0.0.1:1").__enter__()


@pytest.mark.slow
def test_a_scheduler_that_goes_away_ends_the_run_with_what_is_done(
    tmp_path: Path, misbehaving: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = read_set(write_named(tmp_path / "set", "fine", "hangs"))
    csv = tmp_path / "rows.csv"
    give_up_soon(monkeypatch)
    with running_cluster(1) as ((address, _), process):

        def kill() -> None:
            wait_for_id(misbehaving)
            process.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        settings = Settings(method="dp", workers=1)
        with (
            pytest.raises(DfoptError, match="executor failed"),
            cluster_at(address) as executor,
        ):
            run(entries, csv, settings, executor=executor)
        killer.join()
    assert [row.instance for row in read_rows(csv)] == ["fine"]
    assert ends(wait_for_id(misbehaving))
