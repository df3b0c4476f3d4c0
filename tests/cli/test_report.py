"""``dfopt report``: what it writes, and what it refuses."""

from pathlib import Path

import pytest

from dfopt.report import page
from tests.cli.conftest import Run

USAGE = [
    ([], "Missing option '--output'"),
    (["-o", "r.html", "--order-free", "--wait", "1ms"], "leaves out what --wait and"),
]


@pytest.mark.parametrize(("options", "problem"), USAGE, ids=["output", "wait"])
def test_wrong_usage_is_2(run: Run, trace: Path, options: list[str], problem: str) -> None:
    code, out, err = run("report", trace, *options)
    assert (code, out) == (2, "")
    assert problem in " ".join(err.split())


def test_bad_files_are_1(
    run: Run, trace: Path, instance_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.html").mkdir()
    Path("empty.txt").touch()
    Path("words.txt").write_text("words\n", "utf-8")
    Path("same.html").write_bytes(trace.read_bytes())
    refused = [
        (trace, "missing/r.html", "missing/r.html: cannot be written: its folder does not exist"),
        (trace, "r.pdf", "r.pdf: is no name of a page; let it end in .html"),
        (trace, "-", "-: is no name of a page; let it end in .html"),
        (trace, "", "'': is no name of a page; let it end in .html"),
        (trace, "folder.html", "folder.html: is a folder; name a file in it"),
        ("same.html", "same.html", "same.html: is what is read from; name another file"),
        ("empty.txt", "r.html", "empty.txt: is empty; name a trace"),
        ("words.txt", "r.html", "words.txt: holds no trace that dfopt knows; it reads"),
        (instance_file, "r.html", "the file holds an instance (dfopt-instance/1), for"),
        ("nowhere.txt", "r.html", "nowhere.txt: there is no such file; check its name"),
    ]
    for given, output, problem in refused:
        code, out, err = run("report", given, "-o", output)
        assert (code, out) == (1, "")
        assert problem in err
        assert len(err.splitlines()) == 1
    monkeypatch.setattr(page, "find_spec", lambda name: None)
    code, out, err = run("report", trace, "-o", "r.html")
    assert (code, out) == (1, "")
    assert err == (
        "dfopt: a report needs the package bokeh; type 'make solve' in a checkout, or "
        "python -m pip install 'dfopt[report]' in dfopt's environment\n"
    )
    assert not Path("r.html").exists()


@pytest.mark.slow
def test_a_later_trace_that_is_bad_keeps_the_page(run: Run, trace: Path, tmp_path: Path) -> None:
    page, words = tmp_path / "r.html", tmp_path / "words.txt"
    words.write_text("words\n", "utf-8")
    code, _, err = run("report", trace, words, "--domains", "0;1", "-o", page)
    assert code == 1
    assert "words.txt: holds no trace" in err
    text = page.read_text("utf-8")
    assert "The computation was interrupted" in text
    assert '<section id="domains">' in text


def test_a_saved_comparison_is_not_computed_again(
    run: Run, trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved, page = tmp_path / "c.json", tmp_path / "r.html"
    code, out, err = run("compare", trace, "-o", saved)
    assert (code, err) == (0, "")
    assert "attainable" in out
    assert saved.read_text("utf-8") == run("compare", trace, "--json")[1]
    monkeypatch.setattr("dfopt.compare.compare_trace", None)
    assert run("report", saved, "-o", page) == (0, "", "")
    text = page.read_text("utf-8")
    assert "It needs the trace" in text
    assert 'id="chart-frontier"' in text or "attainable" in text
    assert 'id="chart-gantt"' not in text
    code, _, err = run("report", saved, "--window", "5", "-o", page)
    assert (code, "saved comparisons have their labels" in " ".join(err.split())) == (2, True)
    assert run("plot", "attainable", saved, "-o", tmp_path / "a.svg") == (0, "", "")
    code, _, err = run("compare", trace, "-o", trace)
    assert code == 1
    assert "is what is read from" in err
