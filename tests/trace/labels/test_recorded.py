"""Labels of recorded traces whose truth is known."""

from pathlib import Path

import numpy as np
import pytest

from dfopt.trace import Trace
from dfopt.trace.formats import read_trace
from dfopt.trace.labels import default_source, infer_fragments, label
from tests.trace.labels.hackbench import groups_by_fork_order, groups_in_file, score

GROUPS_L200 = "hackbench_proc_g4_l200.groups.csv"


@pytest.fixture(scope="session")
def traces(shared: Path) -> Path:
    return shared / "data" / "traces"


def labelled_and_changes(trace: Trace) -> tuple[int, int]:
    """Return how many dispatches have a label, and how often it changes on a CPU, gaps or not."""
    columns = [
        trace.fragment[(trace.cpu == cpu) & (trace.fragment >= 0)] for cpu in range(trace.cpus)
    ]
    return sum(map(len, columns)), sum(int((np.diff(column) != 0).sum()) for column in columns)


def test_marks(traces: Path) -> None:
    trace = read_trace(traces / "dfbench_16t_6df.ftrace.txt.gz")
    assert default_source(trace) == "marks"
    labelled = label(trace)
    assert labelled_and_changes(labelled) == (3084, 2572)
    assert sorted(labelled.fragments) == [f"frag{number}" for number in range(6)]
    assert labelled.run_time == trace.run_time


def test_groups_from_a_file(traces: Path) -> None:
    trace = read_trace(traces / "hackbench_proc_g4_l200.perf_sched_script.txt.gz")
    labelled = label(trace, str(traces / GROUPS_L200))
    assert labelled_and_changes(labelled) == (6369, 2634)
    assert len(labelled) == len(trace)


def test_processes(traces: Path) -> None:
    trace = read_trace(traces / "hackbench_thread_g4_l30.perf_sched_script_pidtid.txt.gz")
    labelled = label(trace)
    truth = groups_in_file(trace, traces / "hackbench_thread_g4_l30.groups.csv")
    ran = np.isin(trace.task, list(truth))
    # All threads of the benchmark are one process, named after the thread that forks them.
    (parent,) = np.unique(trace.forks.parent[np.isin(trace.forks.child, list(truth))]).tolist()
    used = {labelled.fragments[number] for number in np.unique(labelled.fragment[ran])}
    assert used == {str(trace.tasks[parent].tid)}


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("hackbench_proc_g4_l200.perf_sched_script", GROUPS_L200),
        ("hackbench_proc_g4_l30.perf_sched_script", "hackbench_proc_g4_l30.groups.csv"),
        ("hackbench_thread_g4_l30.perf_sched_script_pidtid", "hackbench_thread_g4_l30.groups.csv"),
        ("hackbench_proc_g16_l20.perf_sched_script", None),
    ],
)
def test_inference(name: str, truth: str | None, traces: Path) -> None:
    trace = read_trace(traces / f"{name}.txt.gz")
    groups = groups_in_file(trace, traces / truth) if truth else groups_by_fork_order(trace)
    found = score(trace, infer_fragments(trace), groups)
    assert found.index == 1
    assert all(is_right for _, is_right in found.labels)


def test_inference_without_forks(traces: Path) -> None:
    trace = read_trace(traces / "hackbench_proc_g4_l200.perf_record_3ev.perf_script.txt.gz")
    # A recording of its own, with numbers of its own: the parent's are followed by its children's.
    tids = sorted(task.tid for task in trace.tasks if task.tid is not None and task.tid > 6891)
    place = {tid: number for number, tid in enumerate(tids[:160])}
    groups = {n: place[t.tid] // 40 for n, t in enumerate(trace.tasks) if t.tid in place}
    assert score(trace, infer_fragments(trace), groups).index == 1
