"""Work on a Dask cluster, and clusters that cannot be used."""

import sys

import pytest

from dfopt import __version__
from dfopt.errors import DfoptError
from dfopt.parallel import dask_cluster
from dfopt.parallel.dask_cluster import _connected, answer_of, check_scheduler
from tests.parallel.running_cluster import running_cluster

distributed = pytest.importorskip(
    "distributed", reason="needs the package distributed, the extra 'cluster'"
)


@pytest.mark.slow
def test_a_worker_is_no_scheduler() -> None:
    with (
        running_cluster(1) as ((_, worker), _),
        pytest.raises(DfoptError, match="is a Dask worker; give the address of its scheduler"),
    ):
        check_scheduler(worker)


@pytest.mark.slow
def test_a_scheduler_without_workers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "QUESTIONS", 1)
    with (
        running_cluster(0) as ((scheduler,), _),
        pytest.raises(DfoptError, match="has no workers; start some with dask worker"),
    ):
        check_scheduler(scheduler)


def test_without_the_extra_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DfoptError, match=r"pip install 'dfopt\[cluster\]'"):
        check_scheduler("tcp://127.0.0.1:1")


class Double:
    """Work that is done anywhere."""

    def perform(self) -> int:
        return 2


class Ended:
    """A future that has its result, or ended badly."""

    def __init__(self, result: object) -> None:
        self._result = result

    def result(self) -> object:
        if isinstance(self._result, BaseException):
            raise self._result
        return self._result


def answered(result: object) -> int:
    return answer_of(Ended(result), Double(), "tcp://here:1", "try again")


def test_what_happens_to_workers_is_told_apart() -> None:
    assert answered((__version__, 2)) == 2
    killed = distributed.KilledWorker("job", None, 3)
    for error, problem in {
        ModuleNotFoundError("No module named 'dfopt'"): "No module named 'dfopt'.*install dfopt",
        distributed.CancelledError("job"): "has gone away; try again",
        killed: "the Dask workers that tried it died",
    }.items():
        with pytest.raises(DfoptError, match=f"^scheduler 'tcp://here:1': .*{problem}"):
            answered(error)
    with pytest.raises(DfoptError, match=r"^trace: has no dispatch$"):
        answered(DfoptError("has no dispatch", place="trace"))


def test_who_sends_work_may_say_what_follows_when_workers_die() -> None:
    killed = Ended(distributed.KilledWorker("job", None, 3))
    answer = answer_of(killed, Double(), "tcp://here:1", "", lambda work, reason: len(reason))
    assert answer == len("the Dask workers that tried it died; was there enough memory?")


def test_another_version_there_is_refused() -> None:
    with pytest.raises(DfoptError, match=r"a worker has dfopt 0\.0\.0"):
        answered(("0.0.0", 2))


class ClientThatNoticedNothing:
    status = "running"


def test_a_closed_connection_is_named_before_the_client_notices_it() -> None:
    closed = distributed.comm.CommClosedError("Connection reset by peer")
    with (
        pytest.raises(DfoptError, match=r"'tcp://a:1'.*has gone away; try again") as caught,
        _connected(ClientThatNoticedNothing(), "tcp://a:1", "try again"),  # type: ignore[arg-type]
    ):
        raise closed
    assert caught.value.__cause__ is closed


def test_other_errors_of_a_living_connection_are_kept() -> None:
    with (
        pytest.raises(ZeroDivisionError),
        _connected(ClientThatNoticedNothing(), "tcp://a:1", "try again"),  # type: ignore[arg-type]
    ):
        raise ZeroDivisionError
