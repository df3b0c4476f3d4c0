"""Whether a Dask cluster can be used, found out before any work is sent there."""

import sys

import pytest

from dfopt.errors import DfoptError
from dfopt.parallel import cluster
from tests.bench.dask_cluster import running_cluster

distributed = pytest.importorskip(
    "distributed", reason="needs the package distributed, the extra 'cluster'"
)


def test_a_worker_is_no_scheduler() -> None:
    with (
        running_cluster(1) as ((_, worker), _),
        pytest.raises(DfoptError, match="is a Dask worker; give the address of its scheduler"),
    ):
        cluster.check_scheduler(worker)


def test_a_scheduler_without_workers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "QUESTIONS", 1)
    with (
        running_cluster(0) as ((scheduler,), _),
        pytest.raises(DfoptError, match="has no workers; start some with dask worker"),
    ):
        cluster.check_scheduler(scheduler)


def test_without_the_extra_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DfoptError, match=r"pip install 'dfopt\[cluster\]'"):
        cluster.check_scheduler("tcp://127.0.0.1:1")
