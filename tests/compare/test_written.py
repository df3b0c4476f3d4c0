"""Traces in other formats: what is read again has paid what the trace paid."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dfopt import replace
from dfopt.compare import compare_trace
from dfopt.trace import Trace, TraceHeader, read_trace, write_trace
from dfopt.trace.labels import label
from dfopt.trace.labels.relabelling import label_tasks
from dfopt.trace.trace import BROKEN_CHAIN, LOST_EVENTS
from tests.trace.traces import names, trace_from_rows, traces

READ_AGAIN = [".jsonl", ".json"]


def paid(trace: Trace) -> tuple[int, int, int]:
    found = compare_trace(trace, workers=1, waits=None)
    return found.realised.total, found.realised.switches, found.managed


def written(trace: Trace, path: Path) -> Trace:
    write_trace(trace, path)
    return label(read_trace(path))


@pytest.mark.parametrize("ending", READ_AGAIN)
def test_broken_chains_stay_broken_chains(tmp_path: Path, ending: str) -> None:
    rows = [
        (0, 0, 10, "7", "A", None, None),
        (0, 20, 30, "8", "B", None, None),
        (0, 40, 50, "7", "A", None, None),
        (1, 0, 10, "9", "B", None, None),
        (1, 10, 20, "7", "A", None, None),
    ]
    gaps = [(0, 10, 20, BROKEN_CHAIN), (0, 32, 40, LOST_EVENTS), (0, 55, 60, BROKEN_CHAIN)]
    rows.sort(key=lambda row: row[1])
    trace = trace_from_rows(rows, gaps=gaps, header=TraceHeader(time_unit="ns"))
    found = written(trace, tmp_path / f"trace{ending}")
    assert paid(found) == paid(trace) == (2, 2, 5)
    reasons = [found.gaps.reasons[number] for number in found.gaps.reason]
    assert reasons == [BROKEN_CHAIN, LOST_EVENTS, BROKEN_CHAIN]
    assert (found.quality.breaks, found.quality.losses) == (2, 1)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.sampled_from(READ_AGAIN), traces(labels=names.filter(str.isalnum)))
def test_the_same_is_paid(ending: str, trace: Trace) -> None:
    fragments = [("A", "B", None)[number % 3] for number in range(len(trace.tasks))]
    trace = replace(label_tasks(trace, fragments), header=TraceHeader(time_unit="ns"))
    if not trace.fragments:
        return
    with TemporaryDirectory() as folder:
        found = written(trace, Path(folder, f"trace{ending}"))
    assert paid(found) == paid(trace)


@pytest.mark.parametrize("ending", READ_AGAIN)
def test_a_recording(shared: Path, tmp_path: Path, ending: str) -> None:
    trace = label(read_trace(shared / "data" / "traces" / "dfbench_16t_6df.ftrace.txt.gz"))
    found = written(trace, tmp_path / f"trace{ending}")
    assert paid(found) == paid(trace) == (2572, 2572, 3084)
    assert found.quality.breaks == trace.quality.breaks
    assert not found.quality.losses
