"""``dfopt trace``."""

import json
from pathlib import Path

import pytest

from dfopt.files import read_instance
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyG
from dfopt.trace.formats import read_trace
from tests.cli.conftest import Run
from tests.compare.examples import ROWS, write_trace

RECORDED = Path(__file__).parents[2] / "docs/examples/hackbench-4.txt.gz"
"""What perf sched script prints."""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_trace(tmp_path / "trace.jsonl", time_unit="ns")


def test_a_trace_keeps_its_labels(run: Run, tmp_path: Path, trace: Path) -> None:
    out = tmp_path / "out.jsonl.gz"
    assert run("trace", "convert", trace, out) == (0, "", "")
    copy = read_trace(out)
    assert copy.fragments == ("A", "B")
    assert copy.header.name == "trace.jsonl"
    assert copy.header.penalty is None
    assert [copy.tasks[number].name for number in copy.task] == [row[2] for row in ROWS]


def test_costs_go_into_the_header(run: Run, tmp_path: Path, trace: Path) -> None:
    out = tmp_path / "out.jsonl"
    costs = ("--fill", "4", "--objective", "max-penalty", "--cold-start", "--capacity", "9")
    assert run("trace", "convert", trace, out, *costs) == (0, "", "")
    header = json.loads(out.read_text().partition("\n")[0])
    assert header["penalty"] == {"kind": "g", "fill": 4, "write_back": 0}
    assert (header["objective"], header["cold_start"], header["capacity"]) == (
        "max-penalty", True, 9,
    )  # fmt: skip


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_every_format_is_written(run: Run, tmp_path: Path, trace: Path, ending: str) -> None:
    out = tmp_path / f"out.{ending}"
    assert run("trace", "convert", trace, out, "--df", "own") == (0, "", "")
    assert len(read_trace(out)) == len(ROWS)


def test_a_part_is_written(run: Run, tmp_path: Path, trace: Path) -> None:
    whole, out = read_trace(trace), tmp_path / "out.jsonl"
    first, middle = int(whole.start.min()), int(whole.end[len(whole) // 2])
    for limits, expected in (
        (("--to", str(middle - first)), whole.end <= middle),
        (("--from", f"{middle - first}ns"), whole.start >= middle),
        (("--from", "0", "--to", "1s"), whole.start >= 0),
    ):
        assert run("trace", "convert", trace, out, *limits) == (0, "", "")
        assert read_trace(out).start.tolist() == whole.start[expected].tolist()
        assert len(out.read_text().splitlines()) == 1 + expected.sum()


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        (("--from", "5", "--to", "5"), "ends before it begins; let it end later"),
        (("--from", "1s"), "no dispatch lies in this part as a whole; choose another part"),
        (("--to", "soon"), "'soon' is no time; write a time from 0 on"),
    ],
)
def test_a_part_that_cannot_be_written(
    run: Run, tmp_path: Path, trace: Path, limits: tuple[str, ...], problem: str
) -> None:
    code, out, err = run("trace", "convert", trace, tmp_path / "out.jsonl", *limits)
    assert (code != 0, out) == (True, "")
    assert problem in " ".join(err.replace("│", " ").split())
    assert not (tmp_path / "out.jsonl").exists()


def test_labels_are_those_that_compare_would_take(run: Run, tmp_path: Path) -> None:
    source, out = tmp_path / "trace.txt", tmp_path / "out.jsonl"
    lines = [
        f"  <...>-{pid} ({tgid}) [000] d..2. {time}.000000: sched_switch: prev_comm=a "
        f"prev_pid={pid} prev_prio=120 prev_state=S ==> next_comm=a next_pid={following} "
        "next_prio=120\n"
        for time, (pid, tgid, following) in enumerate([(7, "  7", 8), (8, "  7", 9), (9, "  9", 7)])
    ]
    source.write_text("".join(lines))
    told = f"dfopt: {source}: labels are taken from tgid; --df takes others\n"
    assert run("trace", "convert", source, out) == (0, "", told)
    assert [read_trace(out).fragments[row] for row in read_trace(out).fragment] == ["7", "9"]
    source.write_text(
        "".join(line.replace("(  7)", "(---)").replace("(  9)", "(---)") for line in lines)
    )
    assert run("trace", "convert", source, out) == (0, "", "")
    assert read_trace(out).fragments == ()


@pytest.mark.slow
def test_labels_are_inferred_where_a_trace_names_no_process(run: Run, tmp_path: Path) -> None:
    code, _, err = run("trace", "to-instance", RECORDED, "-o", tmp_path / "instance.json")
    assert code == 0
    assert f"dfopt: {RECORDED}: labels are taken from wakeups; --df takes others\n" in err


def test_other_labels_are_taken(run: Run, tmp_path: Path, trace: Path) -> None:
    labels, out = tmp_path / "labels.csv", tmp_path / "out.jsonl"
    labels.write_text("tid,df\na,X\n")
    assert run("trace", "convert", trace, out, "--df", labels) == (0, "", "")
    assert read_trace(out).fragments == ("X",)


def test_dispatches_become_an_instance(run: Run, tmp_path: Path, trace: Path) -> None:
    out = tmp_path / "instance.json"
    assert run("trace", "to-instance", trace, "-o", out) == (0, "", "")
    instance = read_instance(out)
    assert [(task.df, task.count) for task in instance.tasks] == [("A", 4), ("B", 3)]
    assert instance.objective is Objective.TOTAL_PENALTY
    assert run("trace", "to-instance", trace, "-o", out, "--each", "--objective", "makespan") == (
        0, "", "",
    )  # fmt: skip
    timed = read_instance(out)
    assert [task.id for task in timed.tasks][:2] == ["a#1", "b#1"]
    assert (timed.objective, timed.tasks[0].exec) == (Objective.MAKESPAN, 10)


def test_one_window_becomes_an_instance(run: Run, tmp_path: Path, trace: Path) -> None:
    out = tmp_path / "instance.json"
    assert run("trace", "to-instance", trace, "--window", "3", "--number", "3", "-o", out) == (
        0, "", "",
    )  # fmt: skip
    assert read_instance(out).task_count == 1


def test_the_optimum_of_the_instance_is_the_bound(run: Run, tmp_path: Path, trace: Path) -> None:
    costs = ("--fill", "4", "--write-back", "3", "--cold-start")
    bound = json.loads(run("compare", trace, *costs, "--json")[1])["windows"][0]["bound"]
    out = tmp_path / "instance.json"
    assert run("trace", "to-instance", trace, *costs, "-o", out)[0] == 0
    assert json.loads(run("solve", out, "--json")[1])["objective"] == bound


def test_a_schedule_becomes_a_trace_that_costs_the_same(
    run: Run, tmp_path: Path, trace: Path
) -> None:
    instance, result, out = (tmp_path / name for name in ("i.json", "r.json", "s.jsonl"))
    costs = ("--fill", "4", "--cold-start")
    run("trace", "to-instance", trace, *costs, "-o", instance)
    objective = json.loads(run("solve", instance, "-o", result, "--json")[1])["objective"]
    assert run("trace", "from-result", instance, result, "-o", out) == (0, "", "")
    found = json.loads(run("compare", out, "--json")[1])
    assert found["realised"]["total"] == objective
    assert found["windows"][0]["ratio"] == 1


def test_labels_become_a_table(run: Run, tmp_path: Path, trace: Path) -> None:
    out = tmp_path / "labels.csv"
    assert run("trace", "label", trace, "-o", out) == (0, "", "")
    assert out.read_text() == ("tid,start,end,df\na,,,A\nb,,,B\nc,,,B\nd,,,A\nidler,,,\n")


def test_a_task_that_changes_its_fragment_has_a_row_for_each(run: Run, tmp_path: Path) -> None:
    rows = [(0, 0, "a", "A"), (0, 10, "a", "A"), (0, 20, "a", "B"), (0, 30, "a", "A")]
    trace, out = write_trace(tmp_path / "a.jsonl", rows), tmp_path / "labels.csv"
    assert run("trace", "label", trace, "-o", out) == (0, "", "")
    assert out.read_text() == "tid,start,end,df\na,,20,A\na,20,30,B\na,30,,A\n"
    found = [json.loads(run("compare", trace, "--json", *more)[1]) for more in ((), ("--df", out))]
    assert found[0] == found[1]
    assert found[0]["realised"]["total"] == 2


def test_what_cannot_be_done(
    run: Run, tmp_path: Path, trace: Path, instance_file: Path, result_file: Path
) -> None:
    out = tmp_path / "out.jsonl"
    other = json.loads(instance_file.read_text())
    wrong = tmp_path / "other.json"
    wrong.write_text(json.dumps({**other, "name": "other"}))
    for code, arguments, problem in [
        (1, ("convert", trace, tmp_path / "out.xyz"), "its ending says no format of traces"),
        (1, ("convert", trace, trace), "is what is read from"),
        (1, ("convert", tmp_path / "none", out), "there is no such file"),
        (1, ("convert", trace, out, "--df", "marks"), "has no marks"),
        (1, ("convert", trace, tmp_path / "no" / "out.jsonl"), "its folder does not exist"),
        (1, ("convert", instance_file, out), "dfopt-instance/1"),
        (1, ("to-instance", trace, "-o", trace), "is what is read from"),
        (1, ("to-instance", trace, "--window", "3", "--number", "9", "-o", out), "has no window 9"),
        (1, ("to-instance", trace, "--unmanaged", "evict", "-o", out), "--unmanaged transparent"),
        (2, ("to-instance", trace, "--window", "3", "-o", out), "belong together"),
        (2, ("to-instance", trace, "--number", "3", "-o", out), "belong together"),
        (2, ("to-instance", trace, "--window", "0", "--number", "1", "-o", out), "is no window"),
        (2, ("to-instance", trace), "--output"),
        (1, ("from-result", wrong, result_file, "-o", out), "belongs to another instance"),
        (1, ("label", trace, "--df", "wakeups", "-o", out), "wake"),
        (2, ("label", trace, "--labels-out", out, "-o", out), "give one"),
    ]:
        found, stdout, err = run("trace", *arguments)
        assert (found, stdout) == (code, ""), arguments
        assert problem in " ".join(err.split()), arguments
        assert code == 2 or err.count("\n") == 1
    assert not out.exists()


def test_a_missing_trace_is_one_line_also_where_the_output_is_there(
    run: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("kept")
    missing = tmp_path / "missing.txt"
    assert run("trace", "convert", missing, out) == (
        1, "", f"dfopt: {missing}: there is no such file; check its name\n",
    )  # fmt: skip
    assert out.read_text() == "kept"


SECONDS = ("--time-unit", "s")
QUEUE = (
    "--task", "id", "--df", "model", "--arrival", "arrived", "--duration", "seconds", *SECONDS
)  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Eight requests for three models, in the order A B A A C A B C."""
    path = tmp_path / "requests.csv"
    rows = [f"{number},{model},{number},5" for number, model in enumerate("ABAACABC")]
    path.write_text("\n".join(["id,model,arrived,seconds", *rows]))
    return path


def test_a_log_of_requests_becomes_a_trace(run: Run, tmp_path: Path, log: Path) -> None:
    out = tmp_path / "queue.jsonl"
    code, stdout, err = run(
        "trace", "import", log, *QUEUE, "--cpus", "1", "--load-time", "20", "-o", out
    )
    assert (code, stdout) == (0, "")
    assert err.startswith(f"{log}: has no starts; the trace serves requests as they come")
    found = json.loads(run("compare", out, "--order-free", "--json")[1])
    assert found["realised"]["total"] == 7 * 20_000
    assert found["windows"][0]["bound"] == found["windows"][0]["rolling"] == 3 * 20_000
    # Served in order and without loads, request i comes at i s and ends at 5 (i + 1) s.
    assert found["service"]["response"]["mean"] == sum(5_000 + 4_000 * i for i in range(8)) / 8


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (QUEUE, "does not say how many CPUs there are; give --cpus"),
        ((*QUEUE, "--time-unit", "min"), "--time-unit must be s, ms, us or ns, not 'min'"),
        (QUEUE[:8], "does not say how many CPUs"),
        (
            (*QUEUE[:8], "--cpus", "1"),
            "line 2: 'arrived' is '0' without a unit; say it with --time-unit: s, ms, us or ns",
        ),
        (("--df", "model", "--start", "arrived"), "name the column --end or --duration"),
        (
            ("--df", "model"),
            "name the columns --start and --end or --duration, --end and --duration, or --arrival "
            "and --duration",
        ),
        (
            ("--df", "size", *QUEUE[4:], "--cpus", "1"),
            "line 1: has no column 'size'; there are id, model",
        ),
    ],
)
def test_a_log_that_cannot_be_read(
    run: Run, tmp_path: Path, log: Path, options: tuple[str, ...], problem: str
) -> None:
    out = tmp_path / "queue.jsonl"
    found, stdout, err = run("trace", "import", log, *options, "-o", out)
    assert (found, stdout) == (1, "")
    assert problem in err
    assert not out.exists()


def test_a_log_with_failed_requests_and_a_time_in_the_queue(run: Run, tmp_path: Path) -> None:
    log, out = tmp_path / "log.csv", tmp_path / "out.jsonl"
    log.write_text("model;at;waited;took;status\nA;0;1;2;200\nB;1;;;503\nA;2;1;2;201\n")
    options = ("--df", "model", "--queued", "waited", "--duration", "took", "--cpus", "1")
    options += SECONDS
    wanted = ("--where", "status=200", "--where", "status=201")
    code, stdout, err = run("trace", "import", log, *options, "--arrival", "at", *wanted, "-o", out)
    assert (code, stdout) == (0, "")
    (left_out,) = err.splitlines()
    said = "warning: left out 1 request where 'status' is not '200' or '201'"
    assert left_out == f"dfopt: {log}: {said}"
    trace = read_trace(out)
    assert (trace.start.tolist(), trace.wakeups.time.tolist()) == ([1000, 3000], [0, 2000])
    code, _, err = run("trace", "import", log, *options, "--arrival", "at", "-o", out)
    assert (code, err) == (
        1,
        f"dfopt: {log}: line 3: 'took' is empty; fill it in, or leave the line out with --where\n",
    )
    code, _, err = run("trace", "import", log, *options, "--where", "status", "-o", out)
    assert code == 2
    assert "'status' is neither COLUMN=VALUE, such as status=200, nor COLUMN!=VALUE" in err


def test_without_arrivals_the_remedy_is_about_the_log(run: Run, tmp_path: Path) -> None:
    log, out = tmp_path / "log.csv", tmp_path / "out.jsonl"
    log.write_text("model,from,to\nA,0,1\nB,1,2\n")
    options = ("--df", "model", "--start", "from", "--end", "to", *SECONDS)
    assert run("trace", "import", log, *options, "-o", out)[0] == 0
    remedy = "import the log with --arrival, too"
    for arguments in (("compare", out), ("compare", out, out), ("info", out)):
        assert remedy in " ".join(run(*arguments)[1].split())


def test_a_log_from_standard_input_is_called_so(run: Run, tmp_path: Path) -> None:
    columns = ("--df", "model", "--start", "from", "--end", "to", *SECONDS)
    columns += ("-o", tmp_path / "out.jsonl")
    code, _, err = run("trace", "import", "-", *columns, stdin="model,from,to\nA,0,3\nB,0,5\n")
    assert code == 0
    assert err == (
        "dfopt: standard input: warning: without --cpu, 2 CPUs are assumed, since up to 2 requests "
        "run at once (several at once on one CPU are not modelled yet; if they only overlap by "
        "rounding, give --cpus); each request is taken to have run on the first CPU that was free\n"
    )
    code, _, err = run("trace", "import", "-", *columns, stdin="model,from,to\nA,0,1\nB,1,3\n")
    assert (code, err) == (0, "")


SERVED = ("--df", "model", "--start", "from", "--end", "to", "--cpu", "gpu", *SECONDS)


def test_requests_without_a_gpu_are_left_out_and_loads_taken_off(run: Run, tmp_path: Path) -> None:
    log, out = tmp_path / "log.csv", tmp_path / "out.jsonl"
    log.write_text("gpu,model,from,to\n0,A,0,5\n,B,0,0\n0,B,5,9\n")
    options = ("--where", "gpu!=", "--load-time", "2500ms", "--load-included")
    code, stdout, err = run("trace", "import", log, *SERVED, *options, "-o", out)
    assert (code, stdout) == (0, "")
    assert err.splitlines() == [
        f"dfopt: {log}: warning: left out 1 request where 'gpu' is ''",
        f"dfopt: {log}: warning: took load times off the beginning of 2 requests, which came first "
        "on their CPU or after another model",
    ]
    trace = read_trace(out)
    assert (trace.start.tolist(), trace.end.tolist()) == ([2500, 7500], [5000, 9000])
    assert trace.header.penalty == PenaltyG(fill=2500, write_back=0)


@pytest.mark.parametrize(
    ("options", "code", "problem"),
    [
        (("--load-time", "25min"), 2, "--load-time: '25min' is no load time; write a number from"),
        (("--load-time", "-1"), 2, "'-1' is no load time"),
        (("--load-time", "inf"), 2, "'inf' is no load time"),
        (("--load-included",), 2, "--load-included needs --load-time or --load-times"),
        (
            ("--where", "model=A,B"),
            1,
            "has no request whose 'model' is 'A,B'; among its values are 'A'",
        ),
    ],
)
def test_options_about_loads_that_cannot_be_meant(
    run: Run, tmp_path: Path, options: tuple[str, ...], code: int, problem: str
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("gpu,model,from,to\n0,A,0,5\n")
    found, _, err = run("trace", "import", log, *SERVED, *options, "-o", tmp_path / "out.jsonl")
    assert found == code
    assert problem in err


def test_included_loads_need_to_know_the_gpus(run: Run, log: Path, tmp_path: Path) -> None:
    loads = ("--load-time", "20", "--load-included", "-o", tmp_path / "out.jsonl")
    problem = (
        f"dfopt: {log}: --load-included needs load times, starts, and the column --cpu; without "
        "it, --cpus 1\n"
    )
    assert run("trace", "import", log, *QUEUE, "--cpus", "1", *loads)[::2] == (1, problem)
    served = ("--df", "model", "--end", "arrived", "--duration", "seconds", *SECONDS)
    assert run("trace", "import", log, *served, *loads)[::2] == (1, problem)
    log.write_text("model,from,to\nA,0,9\nA,9,10\n")
    served = ("--df", "model", "--start", "from", "--end", "to", "--time-unit", "ms")
    assert run("trace", "import", log, *served, "--load-time", "9ms", *loads[2:])[0] == 0
    assert read_trace(tmp_path / "out.jsonl").start.tolist() == [8, 9]


def test_a_request_that_takes_no_time_is_simulated_and_compared_alike(
    run: Run, tmp_path: Path
) -> None:
    log, out = tmp_path / "log.csv", tmp_path / "out.jsonl"
    log.write_text("id,model,arrived,seconds\nq1,oak,0,10\nq2,elm,5,0\nq3,oak,6,10\nq4,elm,30,10\n")
    code, _, _ = run("trace", "import", log, *QUEUE, "--cpus", "1", "--load-time", "20", "-o", out)
    assert code == 0
    code, text, _ = run("simulate", "run-queue", out, "--policy", "fcfs", "--json")
    assert code == 0
    (found,) = json.loads(text)["runs"]
    assert (found["dispatches"], found["penalty"]["total"], found["end"]) == (4, 80_000, 110_000)
    code, text, _ = run("compare", out, "--window", "whole", "--order-free", "--json")
    assert code == 0
    assert '"total": 80000' in text
