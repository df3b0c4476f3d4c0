"""Samples of counters: reading them, what ran before each dispatch, and refusals."""

from pathlib import Path

import numpy as np
import pytest

from dfopt.errors import DfoptError
from dfopt_models.counter_samples import counted_dispatches, read_samples
from tests.models.counters.synthetic import parsed_samples as parsed

HEADER = "time,cpu,thread,type,instructions,cycles\n"
BY_HAND = HEADER + (
    "10,0,a,A,5,10\n"
    "30,0,b,B,40,20\n"
    "90,0,i,idle,0,0\n"
    "100,0,c,B,5,10\n"
    "15,1,d,A,1,1\n"
    "25,1,a,A,20,10\n"
    "45,1,d,A,10,20\n"
)
PERF = """\
# a comment
web 7 [001] 12.000001000: 1 sched:sched_switch: prev_comm=web prev_pid=7 ==> next_pid=0
web 7 [001] 12.000001000: 300 instructions:
web 7 [001] 12.000001000: 200 cycles:
swapper 0 [001] 12.000005000: 1 sched:sched_switch:
swapper 0 [001] 12.000005000: 0 instructions:
swapper 0 [001] 12.000005000: 0 cycles:
my shell 9 [001] 12.000009: 1 sched:sched_switch:
my shell 9 [001] 12.000009: 40 instructions:
my shell 9 [001] 12.000009: 80 cycles:
"""


def test_what_ran_before_by_hand() -> None:
    samples = parsed(BY_HAND)
    dispatches = counted_dispatches(samples)
    names = [
        (
            samples.threads[thread],
            int(length),
            samples.types[before] if before >= 0 else None,
            int(previous),
            int(same),
        )
        for thread, length, before, previous, same in zip(
            dispatches.thread,
            dispatches.length,
            dispatches.previous_type,
            dispatches.previous_length,
            dispatches.predecessors,
            strict=True,
        )
    ]
    # Idle time is left out; the first dispatch of a CPU only counts as a predecessor.
    assert names == [
        ("b", 20, "A", 0, 0),
        ("c", 10, "B", 20, 1),
        ("a", 10, "A", 0, 1),
        ("d", 20, "A", 10, 2),
    ]
    assert dispatches.clock_ghz == 1.0
    assert list(dispatches.ipc) == [2.0, 0.5, 2.0, 0.5]


def test_the_order_of_lines_does_not_matter() -> None:
    lines = BY_HAND.splitlines()
    turned = parsed("\n".join([lines[0], *reversed(lines[1:])]))
    straight = parsed(BY_HAND)
    assert np.array_equal(turned.time, straight.time)
    assert np.array_equal(turned.instructions, straight.instructions)


def test_only_some_cpus_count() -> None:
    assert len(counted_dispatches(parsed(BY_HAND), cpus=[1]).length) == 2


def test_a_group_of_events_as_perf_prints_it(tmp_path: Path) -> None:
    file = tmp_path / "perf.txt"
    file.write_text(PERF.removeprefix("# a comment\n"))
    samples = read_samples(file)
    assert samples.types == ("idle", "my shell", "web")
    assert list(samples.time) == [12_000_001_000, 12_000_005_000, 12_000_009_000]
    dispatches = counted_dispatches(samples)
    assert list(dispatches.ipc) == [0.5]
    assert samples.types[dispatches.previous_type[0]] == "web"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "holds no rows; its first line names the columns, such as time,cpu,thread"),
        (HEADER, "holds no rows; its first line names the columns"),
        (
            HEADER.replace("cycles", "cycle") + "1,0,a,A,1,4\n",
            "line 1: unknown column 'cycle'",
        ),
        (HEADER.replace("cpu", "time") + "1,0,a,A,1,4\n", "line 1: has several columns 'time'"),
        (HEADER + "1,0,a,A,1\n", "line 2: has 5 values, but there are 6 columns; mend the line"),
        (HEADER + "1,0,a,A,1,-4\n", "line 2: cycles must be a number that is not negative"),
        (HEADER + "1,0,a,A,1,x\n", "line 2: cycles must be a number that is not negative"),
        (HEADER + "1,0,,A,1,4\n", "line 2: has no thread; every switch needs it"),
        (HEADER + '1,0,"a,A,1,4\n', "line 2: is no CSV (unexpected end of data); mend the line"),
        (HEADER + "1,0,a,A,1,0\n", "CPU 0 at 1 ns counts no cycles; leave it out"),
        (HEADER + "1,0,a,A,1,1\n1,0,b,A,1,1\n", "CPU 0 has two switches at 1 ns; give times"),
        (HEADER + "1,0,a,A,1,1\n", "no CPU has a dispatch between two switches"),
        (PERF.removeprefix("# a comment\n") + "what\n", "line 10: is not what perf prints"),
        (PERF[12:].replace(" 80 cycles", " 80 branches"), "line 7: has no cycles; every switch"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "samples.csv"
    file.write_text(text)
    with pytest.raises(DfoptError) as refused:
        counted_dispatches(read_samples(file))
    assert problem in str(refused.value)
