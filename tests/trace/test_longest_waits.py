"""The threads that waited longest, held against a plain count."""

from collections import Counter, defaultdict

from hypothesis import given

from dfopt.table import Table
from dfopt.trace.readiness import readiness_of
from dfopt.trace.service import MOST_THREADS, longest_waits
from dfopt.trace.trace import UNMANAGED, Trace
from tests.trace.test_service import TWO_ON_ONE_CPU
from tests.trace.traces import trace_from_rows
from tests.trace.woken import woken_traces


def test_by_hand() -> None:
    """b waits for 10 until a has run, then for 5 on CPU 1, which is idle; a waits for 6 of b."""
    table = longest_waits(TWO_ON_ONE_CPU)
    assert table.only("thread", "waited", "longest", "ready at", "CPU", "for").rows == [
        ["b b", 15, 10, 0, 0, 10],
        ["a a", 6, 6, 14, 0, 6],
    ]


def test_without_wakeups_it_says_what_to_record() -> None:
    table = longest_waits(trace_from_rows([(0, 0, 5, "t", "A", None, None)]))
    assert not table.rows
    assert "record sched:sched_waking" in table.notes[0]


def counted(trace: Trace) -> dict[str, tuple[int, int, set[tuple[int, int, int]]]]:
    """Return of each thread all waits together, the longest, and when, where, how long beside."""
    readiness = readiness_of(trace)
    managed = (trace.fragment != UNMANAGED).any()
    waits = defaultdict(list)
    for row in range(len(trace)):
        if not readiness.known[row] or (managed and trace.fragment[row] == UNMANAGED):
            continue
        ready = int(max(readiness.ready_by[row], readiness.previous_end[row]))
        ran: Counter[tuple[bool, int]] = Counter()
        for other in range(len(trace)):
            if trace.cpu[other] == trace.cpu[row]:
                begin = max(int(trace.start[other]), ready)
                beside = min(int(trace.end[other]), int(trace.start[row])) - begin
                is_managed = bool(trace.fragment[other] != UNMANAGED)
                user = int((trace.fragment if is_managed else trace.task)[other])
                ran[is_managed, user] += max(beside, 0)
        longest = int(trace.start[row]) - ready
        begin = ready - int(trace.start.min())
        own = (longest, begin, int(trace.cpu[row]), max(ran.values()))
        waits[trace.tasks[trace.task[row]].name].append(own)
    return {
        name: (
            sum(own[0] for own in found),
            max(found)[0],
            {own[1:] for own in found if own[0] == max(found)[0]},
        )
        for name, found in waits.items()
    }


def known(table: Table) -> list[list[object]]:
    return [list(row) for row in table.only("waited", "longest", "ready at", "CPU", "for").rows]


@given(woken_traces())
def test_it_is_what_a_plain_count_finds(trace: Trace) -> None:
    table = longest_waits(trace)
    if not table.columns:
        return
    expected = {name: found for name, found in counted(trace).items() if found[1]}
    assert len(table.rows) == min(len(expected), MOST_THREADS)
    longest = [row[1] for row in known(table)]
    assert longest == sorted((found[1] for found in expected.values()), reverse=True)[:MOST_THREADS]
    for (name, *_), (waited, most, begin, cpu, beside) in zip(
        table.rows, known(table), strict=True
    ):
        total, own, places = expected[str(name).split()[0]]
        assert (waited, most) == (total, own)
        assert (begin, cpu, beside or 0) in places
