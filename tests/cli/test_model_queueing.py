"""``dfopt model queueing`` and ``dfopt plot queueing``."""

import json
from pathlib import Path

from tests.cli.conftest import Run


def test_the_table(run: Run) -> None:
    code, out, err = run("model", "queueing", "short-jobs", "--load", "0.5")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.strip()]
    assert ["2", "0.5", "1.333", "2.000", "1.577", "1.577"] in rows
    assert ["4", "0.131", "0.820", "0.599"] in rows
    assert "service, reload, cpus" in out.split("~ assumed")[1]


def test_programs_that_share_a_cache(run: Run) -> None:
    code, out, err = run("model", "queueing", "symmetry")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.strip()]
    assert ["MAT", "2,638", "2,239", "1,679", "821", "1,205", "1,217"] in rows
    assert "cpus, cache.ways" in out.split("~ assumed")[1]


def test_json_and_formulas(run: Run) -> None:
    code, out, _ = run("model", "queueing", "short-jobs", "--load", "0.9", "--json")
    assert code == 0
    assert json.loads(out)["response_times"][1]["global_s"] is None
    code, out, _ = run("model", "queueing", "--formula")
    assert code == 0
    assert "T_p = S/(1 - rho)" in out


def test_wrong_usage(run: Run) -> None:
    code, _, err = run("model", "queueing", "short-jobs", "--load", "1.5")
    assert code == 2
    assert "less than 1" in err
    code, _, err = run("model", "queueing", "short-job")
    assert code == 1
    assert "did you mean 'short-jobs'?" in err


def test_the_picture(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "picture.svg"
    assert run("plot", "queueing", "short-jobs", "-o", picture) == (0, "", "")
    assert picture.stat().st_size > 10_000
