"""What ``dfopt compare`` refuses, and how it says so."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.compare.examples import write_trace

USAGE = [
    (["--window", "0"], "'--window': '0' is no window"),
    (["--window", "ten"], "'--window': 'ten' is no window"),
    (["--window", "-5"], "is no window"),
    (["--window", "10", "--foresight"], "exclude each other"),
    (["--lines", "-1"], "is no number of lines"),
    (["--lines", "runtime:"], "is no number of lines"),
    (["--read-line", "-1"], "Invalid value for '--read-line'"),
    (["--penalty", "g", "--read-line", "1"], "belongs to penalty f"),
    (["--penalty", "f", "--fill", "1"], "belongs to penalty g"),
    (["--fill", "1", "--lines", "1"], "belongs to penalty f"),
    (["--penalty", "none"], "'f', 'lines', 'g', 'whole', 'matrix', 'table'"),
    (["--penalty", "matrix", "--fill", "1"], "belongs to penalty g"),
    (["--capacity", "full"], "is no capacity"),
    (["--capacity", "0"], "is no capacity"),
    (["--objective", "makespan"], "total-penalty or max-penalty"),
    (["--infer-df", "wakeups", "--df", "tgid"], "contradict each other"),
    (["--infer-df", "wakeups", "--df", "wakeups", "--df", "own"], "contradict each other"),
    (["--df", "own", "--df", "own"], "once for each in their order; it is given 2 times for 1"),
    (["--unmanaged", "sometimes"], "'transparent', 'evict'"),
    (["--workers", "0"], "Invalid value for '--workers'"),
]

DOMAINS = [
    ("0", "domains: hold only CPU 0, but the trace has CPU 1, too; give it a domain\n"),
    ("0;0-1", "--domains: [1].cpus: names CPU 0 a second time"),
    ("0;2", "--domains: hold CPU 2, but no domain has CPU 1; give it a domain\n"),
    ("no-such-file", "no-such-file: there is no such file"),
]


@pytest.mark.parametrize(("domains", "problem"), DOMAINS)
def test_domains_that_do_not_fit_are_1(run: Run, trace: Path, domains: str, problem: str) -> None:
    code, out, err = run("compare", trace, "--order-free", "--domains", domains)
    assert (code, out) == (1, "")
    assert problem in err
    assert len(err.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("options", "problem"), USAGE, ids=" ".join)
def test_wrong_usage_is_2(run: Run, trace: Path, options: list[str], problem: str) -> None:
    code, out, err = run("compare", trace, *options)
    assert (code, out) == (2, "")
    assert problem in " ".join(err.split())


def test_standard_input_is_there_once(run: Run) -> None:
    code, out, err = run("compare", "-", "-")
    assert (code, out) == (2, "")
    assert "standard input (-) can be read once only; name files" in " ".join(err.split())


def test_names_of_files_stay_on_one_line(run: Run, trace: Path) -> None:
    odd = trace.rename(trace.with_name("new\nline.jsonl"))
    with odd.open("a") as file:
        file.write('{"cpu": 0, "gap": [900, 901], "reason": "lost events"}\n')
    code, _, err = run("compare", odd)
    assert code == 0
    assert "new\\nline.jsonl: warning: events lost" in err
    assert len(err.splitlines()) == 1


def test_a_file_without_a_name_is_named(run: Run) -> None:
    assert run("compare", "")[2] == "dfopt: '': there is no such file; check its name\n"


def test_labels_of_several_traces_go_to_no_single_file(run: Run, trace: Path) -> None:
    code, out, err = run("compare", trace, trace, "--labels-out", "labels.csv")
    assert (code, out) == (2, "")
    assert "--labels-out is for one trace" in err


FAILURES = [
    ("", [], "is empty"),
    ("no trace\n", [], "holds no trace that dfopt knows"),
    ("Dear all,\nsee you.\n", [], "dfopt-trace/1 JSON lines\n"),
    (
        "id;model\nr1;A\n",
        [],
        "JSON lines; a log of requests? `dfopt trace import` makes a trace of it\n",
    ),
    ("\x00\x01\x02", [], ""),
    ('{"format": "dfopt-trace/1"}\n', [], "line 1, cpus: is missing"),
    ('{"format": "dfopt-trace/1", "cpus": 1}\n', [], "has no dispatch"),
    ('{"format": "dfopt-trace/2", "cpus": 1}\n', [], "dfopt-trace/1"),
    ('{"format": "dfopt-trace/1", "cpus": 1}\n{"cpu": 0,', [], "line 2"),
    ("trace", ["--df", "tgid"], "which process"),
    ("trace", ["--df", "marks"], "has no marks"),
    ("trace", ["--df", "wakeups"], "wake"),
    ("trace", ["--df", "nonsense"], "nonsense"),
    ("trace", ["--df", "comm:("], "regular expression"),
    ("trace", ["--only", "99"], "99"),
    ("trace", ["--penalty", "g", "--write-back", "5"], "penalty g needs --fill as well"),
    ("trace", ["--read-line", "1"], "penalty f needs --write-back as well"),
    (
        "trace",
        ["--read-line", "1", "--write-back", "1"],
        "say how many (--lines)",
    ),
    ("trace", ["--leaves", "clean"], "--leaves belongs to penalty f"),
    ("trace", ["--model", "missing.json"], "there is no such file"),
    ("unmanaged", [], "has no line that says which fragment a dispatch uses"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "options", "problem"), FAILURES)
def test_what_cannot_be_compared_is_one_line(
    run: Run, trace: Path, text: str, options: list[str], problem: str
) -> None:
    if text == "unmanaged":
        write_trace(trace, [(0, 0, "a", None)])
    elif text != "trace":
        trace.write_text(text)
    code, out, err = run("compare", trace, *options)
    assert (code, out) == (1, "")
    assert err.startswith("dfopt: ")
    assert err.count("\n") == 1
    assert problem in err
    assert str(trace) in err or "missing.json" in err


def test_what_is_no_trace_says_what_it_is(
    run: Run, tmp_path: Path, trace: Path, instance_file: Path, result_file: Path
) -> None:
    saved = tmp_path / "saved.json"
    saved.write_text(run("compare", trace, "--json")[1])
    for files, problem in [
        ((result_file,), "is a result; name its instance first"),
        ((trace, instance_file), "is an instance among traces; leave it out"),
        ((instance_file, trace), "is no result"),
        ((saved,), "is a comparison already"),
        ((trace, tmp_path / "none.txt"), "there is no such file"),
    ]:
        code, out, err = run("compare", *files)
        assert (code, out) == (1, "")
        assert err.startswith(f"dfopt: {files[-1]}: ")
        assert problem in err
        assert err.count("\n") == 1


DOUBTS = [
    (["0,1"], "all CPUs of the trace are in one cache domain", True),
    (["0-5"], "the domains name CPUs 2-5, which the trace does not have", True),
    (["0;1"], "semicolon", False),
]


@pytest.mark.parametrize(("options", "warning", "is_told"), DOUBTS)
def test_domains_that_may_not_be_meant_are_doubted(
    run: Run, trace: Path, options: list[str], warning: str, is_told: bool
) -> None:
    code, out, err = run("compare", trace, "--order-free", "--domains", *options)
    assert code == 0
    assert "Cache domains" in out
    assert (warning in err) is is_told
