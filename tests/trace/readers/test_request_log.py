"""Logs of requests as traces."""

import warnings
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.errors import DfoptError, DfoptWarning, FileError
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.trace import Trace, read_trace
from dfopt.trace.formats import write_trace
from dfopt.trace.request_log import (
    RequestColumns,
    parse_load_time,
    read_request_log,
)
from dfopt.trace.service import service_of
from dfopt.trace.trace import Assumed, Lengths

pytestmark = pytest.mark.filterwarnings("ignore:without `cpu`")

read_log = partial(read_request_log, time_unit="s")

TIMED = RequestColumns(task="id", df="model", start="from", end="to")


def saved(folder: Path, text: str, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_requests_take_the_first_free_cpu(tmp_path: Path) -> None:
    log = saved(tmp_path, "id,model,from,to\nx,A,10,12\ny,B,11,13.5\nz,A,12,14\n")
    trace = read_log(log, TIMED)
    assert (trace.cpus, trace.cpu.tolist()) == (2, [0, 1, 0])
    assert (trace.start.tolist(), trace.end.tolist()) == ([0, 1000, 2000], [2000, 3500, 4000])
    assert [task.name for task in trace.tasks] == ["x", "y", "z"]
    with pytest.raises(FileError, match="line 4: starts 1500ms before line 3 ends on the same CPU"):
        read_log(log, TIMED, cpus=1)


def test_it_is_said_how_many_cpus_are_assumed_and_why(tmp_path: Path) -> None:
    log = saved(tmp_path, "id,model,from,to,gpu\nx,A,0,5,0\ny,A,1,6,0\nz,B,3,7,1\n")
    said = r"without `cpu`, 3 CPUs are assumed, since up to 3 requests run at once"
    with pytest.warns(DfoptWarning, match=said):
        assert read_log(log, TIMED).header.assumed is Assumed.CPUS
    said = r"^without `cpu`, each request is taken to have run on the first CPU that was free$"
    with pytest.warns(DfoptWarning, match=said):
        assert read_log(log, TIMED, cpus=3).header.assumed is Assumed.CPUS
    shared = replace(TIMED, cpu="gpu")
    problem = (
        "line 3: starts 4s before line 2 ends on .*; several requests at once on one CPU are not"
    )
    with pytest.raises(FileError, match=problem):
        read_log(log, shared)
    with pytest.raises(FileError, match=r"line 4: starts 2s before .*; several requests at once"):
        read_log(log, TIMED, cpus=2)


@pytest.mark.parametrize(
    ("columns", "assumed"),
    [
        ({"start": "from", "duration": "took", "cpu": "gpu"}, None),
        ({"start": "from", "duration": "took"}, None),
        ({"arrival": "from", "duration": "took"}, Assumed.STARTS),
    ],
)
def test_a_trace_says_what_of_it_was_assumed(
    tmp_path: Path, columns: dict[str, str], assumed: Assumed | None
) -> None:
    log = saved(tmp_path, "model,from,took,gpu\nA,0,5,0\nA,5,1,0\n")
    trace = read_log(log, RequestColumns(df="model", **columns), cpus=1)
    assert trace.header.assumed is assumed
    write_trace(trace, tmp_path / "t.jsonl")
    assert read_trace(tmp_path / "t.jsonl").header.assumed is assumed


IN_GO = """ended,model,took
2026-03-02T10:00:10.000,oak,9.5s
2026-03-02T10:00:40.250,elm,1m2.25s
2026-03-02T10:00:40.900,elm,610.6µs
2026-03-02T10:01:20.000,oak,269.5ms
"""


def test_durations_may_have_units_in_their_cells(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", end="ended", duration="took")
    trace = read_log(saved(tmp_path, IN_GO), columns, cpus=2)
    lengths = dict(zip([task.name for task in trace.tasks], trace.end - trace.start, strict=True))
    assert trace.header.time_unit == "ns"
    assert lengths == {"2": 9_500_000_000, "3": 62_250_000_000, "4": 610_600, "5": 269_500_000}
    log = saved(tmp_path, "ended,model,took\n9,oak,1h 2m\n9,elm,250 ms\n9,oak,2\n")
    with pytest.warns(DfoptWarning, match="3 CPUs"):
        trace = read_log(log, columns)
    assert trace.header.time_unit == "ms"
    assert (trace.end - trace.start).tolist() == [3_720_000, 2000, 250]
    for wrong in ("9.5 min", "-9s", "1m-2s", "s", "1.s", ".s"):
        log = saved(tmp_path, f"ended,model,took\n9,oak,{wrong}\n")
        with pytest.raises(FileError, match=r"line 2: 'took' is .* such as 1m2\.5s"):
            read_log(log, columns)


@pytest.mark.parametrize(
    "times",
    ["2026-01-01 00:00:00 UTC,2026-01-01T01:00:00.5+01:00", "1969-12-31T23:59:59.5,1970-01-01"],
)
def test_iso_times_and_load_times(tmp_path: Path, times: str) -> None:
    log = saved(tmp_path, f"id,model,from,to\nx,A,{times}\n")
    loads = saved(tmp_path, "model,seconds\nA,22.7\n", "loads.csv")
    trace = read_log(log, TIMED, load_times=loads)
    assert trace.end.tolist() == [500]
    assert trace.lines is not None
    assert trace.lines.tolist() == [22_700]
    assert trace.header.lengths is Lengths.WITHOUT_SWITCHES
    assert trace.header.penalty == PenaltyF(read_line=1, write_back=0)
    with pytest.raises(FileError, match=r"loads.csv: has no load time of 'A'"):
        read_log(log, TIMED, load_times=saved(tmp_path, "m,s\nB,1\n", "loads.csv"))


def test_arrivals_and_durations_are_served_in_order(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", arrival="came", duration="took", task="id")
    log = saved(tmp_path, "id,model,came,took\nx,A,5,2\ny,B,6,2\n")
    trace = read_log(log, columns, cpus=1)
    assert (trace.start.tolist(), trace.wakeups.time.tolist()) == ([0, 2000], [0, 1000])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1), st.integers(1, 3))
def test_without_starts_requests_are_served_as_they_come(
    requests: list[tuple[int, int]], cpus: int
) -> None:
    """Of those that come at once, the one that the log has first."""
    columns = RequestColumns(df="model", arrival="came", duration="took")
    rows = [f"A,{came},{took}" for came, took in requests]
    with TemporaryDirectory() as folder:
        log = saved(Path(folder), "\n".join(["model,came,took", *rows]))
        trace = read_log(log, columns, cpus=cpus, time_unit="ms")
    free, expected = [0] * cpus, []
    earliest = min(came for came, _ in requests)
    for came, took in sorted(requests, key=lambda request: request[0]):
        cpu = free.index(min(free))
        start = max(free[cpu], came - earliest)
        free[cpu] = start + took
        expected.append((cpu, start, start + took))
    found = zip(trace.cpu.tolist(), trace.start.tolist(), trace.end.tolist(), strict=True)
    assert list(found) == expected


def test_the_log_names_the_cpus(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", start="from", end="to", cpu="gpu")
    log = saved(tmp_path, "gpu,model,from,to\n10,A,0,2\n9,B,1,2\n")
    assert read_log(log, columns).cpu.tolist() == [1, 0]
    log = saved(tmp_path, "gpu,model,from,to\n9,A,0,3\n9,B,1,2\n")
    with pytest.raises(FileError, match="line 3: starts 2s before line 2 ends on the same CPU"):
        read_log(log, columns)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("id,model,from\nx,A,0\n", "line 1: has no column 'to'; there are id, model, from"),
        ("id,model,from,to\nx,A,3,1\n", "line 2: 'to' is before 'from'"),
        (
            "id,model,from,to\nx,A,soon,1\n",
            "line 2: 'from' is 'soon'; write a number such as 0.5, or a time such as 1m2",
        ),
        ("id,model,from,to\nx,A,1\n", "line 2: has 3 values, but there are 4 columns"),
        ("id,model,from,to\n", "holds no rows; its first line"),
        ("", "holds no rows; its first line"),
        ('[{"id": "x", "model": "A"}]', "is JSON; give a CSV file"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(FileError, match=problem):
        read_log(saved(tmp_path, text), TIMED)


def test_a_request_without_a_cpu_is_refused(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", start="from", end="to", cpu="gpu")
    log = saved(tmp_path, "gpu,model,from,to\n0,A,0,2\n,B,1,2\n")
    problem = "line 3: does not say .* or leave the request out with `where`$"
    with pytest.raises(FileError, match=problem):
        read_log(log, columns)


def test_one_load_time_is_in_the_unit_of_the_log(tmp_path: Path) -> None:
    log = saved(tmp_path, "id,model,from,to\nx,A,0,1\nx,A,1,2\n")
    trace = read_log(log, TIMED, load_times=parse_load_time("22.7s"))
    assert trace.header.penalty == PenaltyG(fill=22_700, write_back=0)
    assert [task.name for task in trace.tasks] == ["x", "x.2"]
    with pytest.raises(FileError, match="load_times: must be at least 0, not -1"):
        read_log(log, TIMED, load_times=-1)


def test_rounded_times_may_overlap_on_a_cpu(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", start="start", duration="ms", cpu="gpu")
    log = saved(tmp_path, "model,start,ms,gpu\nA,0,12,0\nB,10,5,0\n")
    with pytest.warns(
        DfoptWarning, match="shortened .* 1 time, by at most 2ms, so that times agree"
    ):
        trace = read_log(log, columns, time_unit="ms")
    assert (trace.start.tolist(), trace.end.tolist()) == ([0, 10], [10, 15])
    log = saved(tmp_path, "model,start,ms,gpu\nA,0,13,0\nB,10,5,0\n")
    with pytest.raises(FileError, match="line 3: starts 3ms before line 2 ends"):
        read_log(log, columns, time_unit="ms")


def test_an_empty_duration_is_called_empty(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", arrival="at", duration="s")
    with pytest.raises(FileError, match="line 2: 's' is empty; fill it in, or leave"):
        read_log(saved(tmp_path, "model,at,s\nA,0,\n"), columns, cpus=1)


def test_times_that_add_up_to_too_much_are_no_trace(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", arrival="at", duration="s")
    log = saved(tmp_path, "model,at,s\nA,0,1e999999\n")
    with pytest.raises(FileError, match="line 2: 's' is '1e999999'; write a number"):
        read_log(log, columns, cpus=1)
    log = saved(tmp_path, "model,at,s\n" + "A,0,4e15\n" * 3)
    with pytest.raises(FileError, match="line 2: ends more than 2"):
        read_log(log, columns, cpus=1)


@pytest.mark.parametrize("cpus", [0, -1])
def test_requests_need_a_cpu(tmp_path: Path, cpus: int) -> None:
    columns = RequestColumns(df="model", arrival="at", duration="s")
    with pytest.raises(FileError, match=f"cpus: must be at least 1, not {cpus}"):
        read_log(saved(tmp_path, "model,at,s\nA,0,1\n"), columns, cpus=cpus)


SECONDS = """gpu,model,start,took
0,A,2026-01-01T00:00:00Z,1.4
0,B,2026-01-01T00:00:01Z,2.5
0,C,2026-01-01T00:00:03Z,1
"""


@pytest.mark.parametrize("cpu", ["gpu", None])
def test_whole_seconds_may_overlap_by_a_second(tmp_path: Path, cpu: str | None) -> None:
    columns = RequestColumns(df="model", start="start", duration="took", cpu=cpu)
    log = saved(tmp_path, SECONDS)
    notice = "shortened .* 2 times, by at most 500ms, .*, up to 1s may be rounding"
    with pytest.warns(DfoptWarning, match=notice):
        trace = read_log(log, columns, cpus=1)
    assert trace.end.tolist() == [1000, 3000, 4000]
    log = saved(tmp_path, SECONDS.replace("2.5", "3.1"))
    with pytest.raises(FileError, match="line 4: starts 1100ms before line 3 ends"):
        read_log(log, columns, cpus=1)


def test_no_request_is_shortened_where_another_cpu_may_have_served_it(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", start="start", duration="took")
    with pytest.warns(
        DfoptWarning, match="up to 2 requests run at once .*by rounding, give `cpus`"
    ):
        trace = read_log(saved(tmp_path, SECONDS), columns)
    assert (trace.cpus, trace.end.tolist()) == (2, [1400, 3500, 4000])


@given(
    st.lists(st.tuples(st.integers(0, 3_000_000), st.integers(0, 3_000_000)), min_size=1),
    st.integers(0, 6),
    st.integers(0, 6),
    st.sampled_from([ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING]),
)
def test_what_ran_one_after_the_other_is_read_however_its_times_are_rounded(
    runs: list[tuple[int, int]], start_digits: int, duration_digits: int, rounding: str
) -> None:
    def written(microseconds: int, digits: int) -> str:
        seconds = Decimal(microseconds).scaleb(-6)
        return str(seconds.quantize(Decimal(1).scaleb(-digits), rounding))

    lines, now = ["gpu,model,start,took"], 0
    for pause, length in runs:
        now += pause
        lines.append(f"0,A,{written(now, start_digits)},{written(length, duration_digits)}")
        now += length
    columns = RequestColumns(df="model", start="start", duration="took", cpu="gpu")
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DfoptWarning)
        trace = read_log(saved(Path(folder), "\n".join(lines)), columns)
    assert len(trace) == len(runs)
    assert (trace.end[:-1] <= trace.start[1:]).all()


def test_times_in_other_digits_may_be_in_disorder(tmp_path: Path) -> None:
    columns = RequestColumns(df="model", arrival="came", start="start", end="end")
    log = saved(tmp_path, "model,came,start,end\nA,5.25,5,6.5\nA,7.25,8,8.5\n")
    notice = "moved arrivals 1 time, by at most 250ms"
    with pytest.warns(DfoptWarning, match=notice):
        trace = read_log(log, columns)
    assert trace.wakeups.time.tolist() == [0, 2250]
    log = saved(tmp_path, "model,came,start,end\nA,5,3,6\n")
    with pytest.raises(FileError, match="line 2: 'start' is before 'came'"):
        read_log(log, columns)


def test_a_time_in_the_queue_gives_starts_or_arrivals(tmp_path: Path) -> None:
    log = saved(tmp_path, "model,at,waited,took\nA,10,0,2\nA,11,1.5,2\n")
    came = RequestColumns(df="model", arrival="at", queued="waited", duration="took")
    trace = read_log(log, came)
    assert (trace.start.tolist(), trace.wakeups.time.tolist()) == ([0, 2500], [0, 1000])
    began = RequestColumns(df="model", start="at", queued="waited", duration="took", cpu="model")
    with pytest.warns(DfoptWarning, match="shortened .* by at most 1s"):
        trace = read_log(log, began)
    assert (trace.start.tolist(), trace.wakeups.time.tolist()) == ([500, 1500], [0, 500])
    with pytest.raises(FileError, match="`queued` goes with `arrival`, with"):
        RequestColumns(df="model", arrival="at", start="at", queued="waited", duration="took")
    log = saved(tmp_path, "model,at,waited,took\nA,10,-1,2\n")
    with pytest.raises(FileError, match="line 2: 'waited' is negative"):
        read_log(log, came)


LOGGED = "id;model;from;to;status\nx;A;0;2;ok\ny;B;;;500\nz;B;2;4;ok\nw;B;5;6;late\n;;;;\n"


def test_only_requests_with_the_wanted_values_count(tmp_path: Path) -> None:
    log = saved(tmp_path, "\ufeff" + LOGGED)
    with pytest.warns(DfoptWarning, match="left out 2 requests where 'status' is not 'ok'"):
        trace = read_log(log, TIMED, where={"status": ["ok"]})
    assert [task.name for task in trace.tasks] == ["x", "z"]
    with pytest.warns(DfoptWarning, match="left out 1 request where 'status' is not 'ok' or 'late"):
        trace = read_log(log, TIMED, where={"status": ["ok", "late"]})
    assert [task.name for task in trace.tasks] == ["x", "z", "w"]
    with pytest.raises(FileError, match="whose 'status' is '200'; among its values are 'ok', '5"):
        read_log(log, TIMED, where={"status": ["200"]})
    with pytest.raises(FileError, match="no column 'state'; did you mean 'status'"):
        read_log(log, TIMED, where={"state": ["ok"]})


@pytest.mark.parametrize(
    ("names", "row", "unit", "end"),
    [
        ("start_s,took_ms", "0,1500", "ms", 1500),
        ("from (ms),seconds", "0,1.5", "ms", 1500),
        ("start,took", "2026-01-01T00:00:00.000250,1.5s", "ms", 1500),
        ("Start_NS,exec_microseconds", "0,1500", "us", 1500),
        ("start s,took", "0,1.5000004ms", "us", 1500),
        ("us,ns", "0.5,250", "ns", 250),
    ],
)
def test_names_of_columns_and_cells_say_units(
    tmp_path: Path, names: str, row: str, unit: str, end: int
) -> None:
    start, duration = names.split(",")
    columns = RequestColumns(df="model", start=start, duration=duration)
    log = saved(tmp_path, f"model,{names}\nA,{row}\n")
    trace = read_request_log(log, columns, cpus=1)
    assert (trace.header.time_unit, trace.end.tolist()) == (unit, [end])


def test_what_an_option_says_of_a_unit_goes_before_the_name(tmp_path: Path) -> None:
    log = saved(tmp_path, "model,start_s,took_s,waited\nA,60,30,15\n")
    columns = RequestColumns(df="model", start="start_s", duration="took_s", queued="waited")

    def times(time_unit: str, duration_unit: str | None) -> tuple[list[int], list[int]]:
        trace = read_request_log(
            log, columns, cpus=1, time_unit=time_unit, duration_unit=duration_unit
        )
        return trace.start.tolist(), trace.end.tolist()

    assert times("ms", None) == ([15], [30_015])
    assert times("ms", "ms") == ([15], [45])
    assert times("s", "ms") == ([15], [45])


@pytest.mark.parametrize(
    ("columns", "cell"),
    [({"start": "start", "duration": "took"}, "'start' is '5'"), ({"end": "at", "duration": "took"},
      "'took' is '7'")],
)  # fmt: skip
def test_a_unit_that_nothing_says_is_asked_for(
    tmp_path: Path, columns: dict[str, str], cell: str
) -> None:
    log = saved(tmp_path, "model,start,at,took\nA,5,2026-01-01,7\n")
    problem = f"line 2: {cell} without a unit; say it with `time_unit`: s, ms, us or ns"
    with pytest.raises(FileError, match=problem):
        read_request_log(log, RequestColumns(df="model", **columns))


def test_a_load_time_needs_a_unit(tmp_path: Path) -> None:
    assert parse_load_time("25s") == parse_load_time("25000", "ms") == 25 * 10**9
    with pytest.raises(DfoptError, match="'25' has no unit; write it, as in 25s, or give `time_"):
        parse_load_time("25")
    log = saved(tmp_path, "model,start_s,took_s\nA,0,5\n")
    columns = RequestColumns(df="model", start="start_s", duration="took_s")
    loads = saved(tmp_path, "model,load\nA,25\n", "loads.csv")
    problem = r"loads\.csv: line 2: 'load' is '25' without a unit; say it with `time_unit`"
    with pytest.raises(FileError, match=problem):
        read_request_log(log, columns, cpus=1, load_times=loads)


@pytest.mark.parametrize(
    "start",
    ["2026-01-31", "2026-01-31 12:00:00Z", "2026-01-31 12:00:00 UTC", "20260131T120000+0100"],
)
def test_times_in_whole_seconds_say_no_fraction(tmp_path: Path, start: str) -> None:
    columns = RequestColumns(df="model", start="start", duration="took", cpu="model")
    rows = f"model,start,took\nA,{start},{{0}}\nA,{start},{{0}}\n"
    with pytest.warns(DfoptWarning, match="up to 1s may be rounding"):
        read_request_log(saved(tmp_path, rows.format("1.000s")), columns)
    with pytest.raises(FileError, match="line 3: starts 1001ms before line 2 ends"):
        read_request_log(saved(tmp_path, rows.format("1.001s")), columns)


def test_columns_are_found_by_their_only_name(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"no column 'from'; did you mean 'form'\?$"):
        read_log(saved(tmp_path, "id,model,form,to\nx,A,0,1\n"), TIMED)
    with pytest.raises(
        FileError, match="line 1: has several columns 'to'; give all but one another"
    ):
        read_log(saved(tmp_path, "id,model,from,to,to\nx,A,0,1,1\n"), TIMED)


def test_a_log_without_arrivals_says_how_to_get_waits(tmp_path: Path) -> None:
    trace = read_log(saved(tmp_path, "id,model,from,to\nx,A,0,1\n"), TIMED)
    path = tmp_path / "trace.jsonl"
    write_trace(trace, path)
    problem = service_of(read_trace(path)).problem
    assert problem == "the trace has no wake-ups; import the log with `arrival`, too"


def test_durations_may_have_a_unit_of_their_own(tmp_path: Path) -> None:
    log = saved(tmp_path, "model,at,took\nA,1772355600.5,500\nA,1772355602,1500\n")
    columns = RequestColumns(df="model", start="at", duration="took")
    trace = read_log(log, columns, duration_unit="ms", load_times=2 * 10**9)
    assert (trace.start.tolist(), trace.end.tolist()) == ([0, 1500], [500, 3000])
    assert trace.header.penalty == PenaltyG(fill=2000, write_back=0)
    trace = read_log(log, columns, duration_unit="us")
    assert (trace.header.time_unit, trace.end.tolist()) == ("us", [500, 1_501_500])
    with pytest.raises(FileError, match="`duration_unit` must be s, ms, us or ns, not 'min'"):
        read_log(log, columns, duration_unit="min")


def test_ends_less_durations_are_starts(tmp_path: Path) -> None:
    text = "model,end,took,waited,came\nA,5,3,1,1\nB,9.5,3.5,0.25,4\n"
    log = saved(tmp_path, text)
    columns = RequestColumns(df="model", end="end", duration="took", queued="waited")
    trace = read_log(log, columns)
    assert (trace.start.tolist(), trace.end.tolist()) == ([1000, 5000], [4000, 8500])
    assert trace.wakeups.time.tolist() == [0, 4750]
    columns = RequestColumns(df="model", end="end", duration="took", arrival="came", cpu="model")
    trace = read_log(log, columns)
    assert (trace.start.tolist(), trace.wakeups.time.tolist()) == ([1000, 5000], [0, 3000])
    problem = "line 2: the start is before 'came'; mend"
    with pytest.raises(FileError, match=problem):
        read_log(saved(tmp_path, text.replace("1,1", "1,4")), columns)
    with pytest.raises(FileError, match="of `start`, `end` and `duration` two are enough"):
        RequestColumns(df="model", start="came", end="end", duration="took")


@given(
    st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 3_000)), min_size=1),
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from([ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING]),
)
def test_rounded_ends_less_rounded_durations_are_read(
    runs: list[tuple[int, int]], end_digits: int, duration_digits: int, rounding: str
) -> None:
    def written(milliseconds: int, digits: int) -> str:
        seconds = Decimal(milliseconds).scaleb(-3)
        return str(seconds.quantize(Decimal(1).scaleb(-digits), rounding))

    lines, now = ["gpu,model,came,end,took"], 0
    for pause, length in runs:
        now += pause
        came = written(now, end_digits)
        now += length
        lines.append(f"0,A,{came},{written(now, end_digits)},{written(length, duration_digits)}")
    columns = RequestColumns(df="model", arrival="came", end="end", duration="took", cpu="gpu")
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DfoptWarning)
        trace = read_log(saved(Path(folder), "\n".join(lines)), columns)
    assert len(trace) == len(runs)
    assert (trace.end[:-1] <= trace.start[1:]).all()


@pytest.mark.parametrize(
    ("columns", "question"),
    [
        ({"arrival": "time", "queued": "waited"}, "if 'time' is .* `end`, not with `arrival`"),
        ({"start": "time"}, "if 'time' is when a request ended, name it with `end`, not with `s"),
    ],
)
@pytest.mark.parametrize("cpu", ["gpu", None])
def test_times_that_overlap_may_be_ends(
    tmp_path: Path, columns: dict[str, str], question: str, cpu: str | None
) -> None:
    log = saved(tmp_path, "gpu,model,time,waited,took\n0,A,20,0,20\n0,B,22,0,2\n0,A,42,0,20\n")
    wrong = RequestColumns(df="model", duration="took", cpu=cpu, **columns)
    with pytest.raises(FileError, match=f"line 3: starts .*; {question}"):
        read_log(log, wrong, cpus=1)
    right = RequestColumns(df="model", end="time", duration="took", queued="waited", cpu=cpu)
    assert read_log(log, right, cpus=1).start.tolist() == [0, 20_000, 22_000]


def test_rows_are_chosen_by_values_that_they_have_not(tmp_path: Path) -> None:
    log = saved(tmp_path, LOGGED)
    said = "left out 2 requests where 'status' is '500' or 'late'; 1 of them had run, and may have"
    with pytest.warns(DfoptWarning, match=said):
        trace = read_log(log, TIMED, where_not={"status": ["500", "late"]})
    assert [task.name for task in trace.tasks] == ["x", "z"]
    with pytest.raises(
        FileError, match="no request whose 'id' is not 'x'; among its values are 'x'"
    ):
        read_log(log, TIMED, where={"id": ["x"]}, where_not={"id": ["x"]})


def test_only_what_has_run_may_have_loaded_a_model(tmp_path: Path) -> None:
    log = saved(tmp_path, "m,gpu,at,took,s\nA,0,0,1,ok\nB,,1,1,no\nB,0,1,0,no\nB,0,1,,no\n")
    columns = RequestColumns(df="m", cpu="gpu", start="at", duration="took")
    with pytest.warns(DfoptWarning, match="left out 3 requests where 's' is not 'ok'$"):
        read_log(log, columns, where={"s": ["ok"]})


ON_GPUS = RequestColumns(df="model", start="from", end="to", cpu="gpu")


def test_included_loads_are_taken_off_the_beginning(tmp_path: Path) -> None:
    rows = "0,A,0,9\n1,B,1,3\n0,A,9,12\n0,,12,13\n0,A,13,15\n0,B,15,20\n1,B,4,5\n"
    log = saved(tmp_path, "gpu,model,from,to\n" + rows)
    loads = saved(tmp_path, "model,load\nA,4s\nB,2.5\n", "loads.csv")
    notice = "load times off .* of 3 requests, .*; 1 took no longer than the load, and keep 1ms"
    with pytest.warns(DfoptWarning, match=notice):
        trace = read_log(log, ON_GPUS, load_times=loads, load_included=True)
    assert trace.start.tolist() == [2999, 4000, 4000, 9000, 12_000, 13_000, 17_500]
    assert trace.end.tolist() == [3000, 9000, 5000, 12_000, 13_000, 15_000, 20_000]
    assert trace.lines is not None
    assert trace.lines.tolist() == [2500, 4000, 2500, 4000, 0, 4000, 2500]


runs_on_gpus = st.lists(
    st.tuples(st.sampled_from("01"), st.sampled_from("AB"), st.integers(1, 9), st.integers(0, 9)),
    min_size=1,
)


@given(runs_on_gpus, st.integers(1, 9))
def test_loads_that_were_added_are_taken_off_again(
    runs: list[tuple[str, str, int, int]], load: int
) -> None:
    """The work of requests is the same, whether the log counts loads or has them before starts."""
    before, within = ["gpu,model,from,to"], ["gpu,model,from,to"]
    free, held = dict.fromkeys("01", 0), dict[str, str]()
    for gpu, model, length, idle in runs:
        called = free[gpu] + idle
        start = called if held.get(gpu) == model else called + load
        free[gpu], held[gpu] = start + length, model
        before.append(f"{gpu},{model},{start},{free[gpu]}")
        within.append(f"{gpu},{model},{called},{free[gpu]}")
    with TemporaryDirectory() as folder:
        path = Path(folder)
        right = read_log(saved(path, "\n".join(before)), ON_GPUS, load_times=load * 10**9)
        with pytest.warns(DfoptWarning, match="took load times off"):
            found = read_log(
                saved(path, "\n".join(within), "within.csv"), ON_GPUS, load_times=load * 10**9,
                load_included=True,
            )  # fmt: skip
    since = found.start[0] - right.start[0]

    def work(trace: Trace, moved: int) -> list[tuple[int, int, int]]:
        columns = (trace.cpu, trace.start - moved, trace.end - moved)
        return sorted(zip(*(column.tolist() for column in columns), strict=True))

    assert work(found, since) == work(right, 0)
