import pytest

from dfopt.errors import FileError
from dfopt.trace.labels import kernel_threads, label_by_process
from tests.trace.labels.made import labels, made


def test_threads_of_a_process_share_its_fragment():
    runs = [("main", 10, 1), ("worker", 11, 2), ("other", 12, 3), ("unknown", 13, 4)]
    trace = made(runs, groups=[(0, 10, 10), (0, 11, 10), (0, 12, 12)])
    assert labels(label_by_process(trace)) == ["10", "10", "12", None]


@pytest.mark.parametrize(
    "comm",
    [
        *("kthreadd", "kworker/u8:1", "kworker/0:1H-kblockd", "kworker/R-rcu_gp", "ksoftirqd/1"),
        *("migration/0", "rcu_preempt", "rcu_sched", "rcuop/3", "cpuhp/1", "watchdog/0", "kswapd0"),
        *("kcompactd0", "khugepaged", "jbd2/sda1-8", "irq/24-nvme0", "idle_inject/2", "watchdogd"),
    ],
)
def test_threads_of_the_kernel_are_not_managed(comm):
    trace = made([(comm, 20, 1), ("bash", 21, 2)], groups=[(0, 20, 20), (0, 21, 21)])
    assert kernel_threads(trace).tolist() == [True, False]
    assert labels(label_by_process(trace)) == [None, "21"]


@pytest.mark.parametrize(
    "comm", ["bash", "kworker", "rcu", "watchdog", "migration", "looper1", "md5sum"]
)
def test_comms_of_programs(comm):
    assert not kernel_threads(made([(comm, 20, 1)])).any()


def test_what_kthreadd_makes_is_of_the_kernel():
    trace = made([("new", 20, 1), ("x", 21, 2)], forks=[(0, 2, 20), (0, 7, 21)])
    names = [task.name for task in trace.tasks]
    kernel = dict(zip(names, kernel_threads(trace).tolist(), strict=True))
    assert kernel == {"2": True, "7": False, "20": True, "21": False}


def test_programs_may_be_called_like_threads_of_the_kernel():
    runs = [("bash", 7, 1), ("writeback", 20, 2), ("loop1", 21, 3), ("a", 22, 4), ("ksmd", 23, 5)]
    trace = made(
        runs, forks=[(0, 7, 20), (0, 2, 23)], groups=[(0, 20, 20), (0, 21, 21), (0, 22, 21)]
    )
    kernel = {trace.tasks[task].name for task in trace.task if kernel_threads(trace)[task]}
    assert kernel == {"23"}


def test_a_thread_within_a_process_may_have_any_comm():
    trace = made([("kworker/0:1", 20, 1)], groups=[(0, 20, 19)])
    assert labels(label_by_process(trace)) == ["19"]


def test_no_process_known():
    with pytest.raises(FileError, match=r"perf script -F .*record-tgid.* comm:REGEX"):
        label_by_process(made([("bash", 21, 2)]))
