"""Switches drawn at random are read back from every dialect, whatever the threads are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trace.readers.kernel_lines import (
    DIALECTS,
    LETTERS,
    NAMED,
    Switch,
    dispatches,
    read,
    text_of,
)
from tests.trace.traces import randoms

PIECES = (
    *(b"a", b"Z9", b" ", b"  ", b"=", b" ==> ", b":", b"[", b"]", b"-", b"/", b"(", b"#", b"\t"),
    *(b"prev_pid=", b" pid=1", b"next_comm=", b":12 [120]", b"-7 [001]", b"\xc3\xa9", b"\xff"),
    *(b" 12 [000]", b"1.000000: ", b"CPU:1 [LOST 5", b"<...>", b"S ==> b", b"\r", b"\\", b'"'),
)


@st.composite
def chains(draw):
    """Return switches on two CPUs, each from the thread that the one before went to."""
    random = draw(randoms)

    def comm():
        return b"".join(random.choices(PIECES, k=random.randint(0, 8)))[:15]

    running = {cpu: (0, b"swapper/%d" % cpu) for cpu in range(2)}
    time, switches = 5_000_000, []
    for cpu in random.choices(range(2), k=random.randint(1, 12)):
        time += random.choice([0, random.randint(0, 2_000_000)])
        following = random.choice((0, 11, 12, 345, 4_194_304))
        named = (following, comm() if following else b"swapper/%d" % cpu)
        # A thread may rename itself while it runs.
        pid, name = running[cpu]
        name = random.choice((name, comm())) if pid else name
        state = random.choice([letter for letter in LETTERS if letter not in (b"Z", b"X")])
        switches.append(Switch(cpu, time, (pid, name), named, state))
        running[cpu] = named
    return switches


def expected_dispatches(switches):
    begun, found = {}, []
    for switch in switches:
        pid, comm = switch.previous
        if switch.cpu in begun and pid:
            start = begun[switch.cpu]
            times = start * 1000, switch.time * 1000
            found.append((switch.cpu, *times, pid, comm.decode("utf-8", "backslashreplace")))
        begun[switch.cpu] = switch.time
    return sorted(found, key=lambda row: row[1])


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
@given(switches=chains())
def test_read_back(dialect, switches):
    if dialect not in NAMED:
        # These pad with spaces where a comm begins.
        switches = [
            Switch(s.cpu, s.time, _stripped(s.previous), _stripped(s.next), s.state)
            for s in switches
        ]
    trace = read(text_of(switches, dialect), dialect)
    assert trace.quality.unparsed == 0
    assert trace.quality.events == len(switches)
    assert trace.quality.breaks == 0
    found = dispatches(trace)
    assert sorted(found) == sorted(expected_dispatches(switches))
    assert [row[1] for row in found] == sorted(row[1] for row in found)


def _stripped(thread):
    return thread[0], thread[1].lstrip()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_usual_lines_are_read_alike_beside_unusual_ones(dialect):
    switches = [
        Switch(0, 10, (0, b"swapper/0"), (7, b"cat")),
        Switch(0, 30, (7, b"cat"), (8, b"dog"), b"R"),
        Switch(0, 70, (8, b"dog"), (0, b"swapper/0"), b"Z"),
    ]
    odd = Switch(1, 90, (0, b"swapper/1"), (9, b"an odd one"))
    rows = [(0, 10_000, 30_000, 7, "cat"), (0, 30_000, 70_000, 8, "dog")]
    assert dispatches(read(text_of(switches, dialect), dialect)) == rows
    assert dispatches(read(text_of([*switches, odd], dialect), dialect)) == rows


@pytest.mark.parametrize("dialect", DIALECTS)
def test_weights_follow_the_nice_values(dialect):
    """So they do where a thread whose name is odd makes the slower pattern read the text."""
    idle = (0, b"swapper/0")
    for name in b"cat", b"an odd one":
        switches = [
            Switch(0, 10, idle, (7, b"urgent"), priority=101),
            Switch(0, 20, (7, b"urgent"), (8, name), priority=139),
            Switch(0, 30, (8, name), (9, b"usual"), priority=120),
            # A real-time priority is no nice value; nor is that of a deadline.
            Switch(0, 40, (9, b"usual"), (7, b"urgent"), priority=99),
            Switch(0, 50, (7, b"urgent"), (10, b"dl"), priority=-1),
            Switch(0, 60, (10, b"dl"), idle),
        ]
        tasks = read(text_of(switches, dialect), dialect).tasks
        assert {task.tid: task.weight for task in tasks} == {7: 71_054, 8: 15, 9: None, 10: None}
