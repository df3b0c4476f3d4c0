"""``dfopt model`` and ``dfopt plot crossover``."""

import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dfopt import replace
from dfopt.files import read_instance, schema
from dfopt_models.response_time import RESPONSE_TIME, PolicyParameters
from tests.cli.conftest import Run, Start
from tests.models.counters.synthetic import published_samples
from tests.patience import PATIENCE_S

KEYS = ["format", "model", "baseline", "path", "crossovers"]


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    """Mix 5 as a file without ranges, with rounded parameters in the place of measurements."""
    path = tmp_path / "mix.toml"
    model = RESPONSE_TIME.read("mix-5")
    jobs = []
    for job in model.jobs:
        policies = {
            name: PolicyParameters(
                work=round(case.work, 1),
                waste=case.waste,
                reallocations=case.reallocations,
                affinity=case.affinity,
                allocation=round(case.allocation, 3),
                baseline={"work": round(case.work, 1)} if policy.own_work else {},
                sources={"waste": policy.sources["waste"]} if "waste" in policy.sources else {},
            )
            for name, policy in job.policies.items()
            for case in [model.case(job.name, name)]
        }
        jobs.append(replace(job, policies=policies))
    RESPONSE_TIME.write(replace(model, jobs=tuple(jobs)), path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "products"),
    [("limit", (45.9, 1404.6, 4786.6)), ("speed", (36.0, 123.7, 301.9))],
)
def test_crossovers_as_json(
    run: Run, model_file: Path, path: str, products: tuple[float, ...]
) -> None:
    code, out, err = run("model", "crossover", model_file, "--path", path, "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    Draft202012Validator(schema("crossover")).validate(document)
    assert list(document) == KEYS
    assert document["format"] == "dfopt-crossover/1"
    assert document["model"] == "Vaswani and Zahorjan, mix 5"
    assert document["baseline"] == "equipartition"
    assert document["path"] == path
    rows = [row for row in document["crossovers"] if row["job"] == "MATRIX"]
    assert [row["policy"] for row in rows] == ["dynamic", "dyn-aff", "dyn-aff-delay"]
    for row, product in zip(rows, products, strict=True):
        assert list(row) == ["job", "policy", "product"]
        assert row["product"] == pytest.approx(product, abs=0.05 if product < 1000 else 0.5)


def test_the_default_path_is_equal_growth(run: Run) -> None:
    _, out, _ = run("model", "crossover", "mix-5", "--json")
    document = json.loads(out)
    Draft202012Validator(schema("crossover")).validate(document)
    assert document["path"] == "equal"
    assert list(document) == [*KEYS, "x-ranges"]


def no_crossover(path: Path) -> Path:
    """Make Dynamic so slow for MATRIX that there is nothing to cross."""
    text = path.read_text()
    start = text.index("[job.policy.dynamic]")
    path.write_text(text[:start] + text[start:].replace("work = 717.9", "work = 1717.9", 1))
    return path


@pytest.mark.slow
def test_a_crossover_that_does_not_exist_is_said(
    run: Run, model_file: Path, tmp_path: Path
) -> None:
    no_crossover(model_file)
    _, out, _ = run("model", "crossover", model_file, "--json")
    document = json.loads(out)
    Draft202012Validator(schema("crossover")).validate(document)
    assert document["crossovers"][0] == {"job": "MATRIX", "policy": "dynamic", "product": None}
    code, out, _ = run("model", "crossover", model_file)
    assert code == 0
    assert "none  is slower on every machine" in " ".join(out.split("\n"))
    picture = tmp_path / "a.svg"
    assert run("plot", "crossover", model_file, "-o", picture) == (0, "", "")
    assert "no crossover" in picture.read_text()


def test_a_policy_like_the_baseline_is_no_slower(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "alike.toml"
    rest = "reallocations = 0\naffinity = 1\nallocation = 1\n"
    path.write_text(
        'format = "dfopt-response-model/1"\nbaseline = "still"\nreallocation_time = 0\n[[job]]\n'
        'name = "J"\npenalty_affinity = 0\npenalty_no_affinity = 0\n'
        f"[job.policy.still]\nwork = 0.3\nwaste = 0\n{rest}"
        f"[job.policy.other]\nwork = 0.1\nwaste = 0.2\n{rest}"  # 0.1 + 0.2 is not quite 0.3
    )
    assert "is as fast as the baseline" in run("model", "crossover", path)[1]


def test_crossovers_in_a_table(run: Run) -> None:
    code, out, err = run("model", "crossover", "mix-5", "--path", "limit")
    assert (code, err) == (0, "")
    for figure in ("~46", "~1,400", "~4,800", "falls behind", "3.6 to 610"):
        assert figure in out


def test_response_times(run: Run) -> None:
    code, out, err = run(
        "model", "response-time", "mix-5", "--speed", "4", "--cache", "2", "--json"
    )
    assert (code, err) == (0, "")
    document = json.loads(out)
    Draft202012Validator(schema("response-time")).validate(document)
    rows = document["response_times"]
    assert [(row["speed"], row["cache"]) for row in rows] == [(1.0, 1.0)] * 8 + [(4.0, 2.0)] * 8
    times = {(row["job"], row["policy"]): row["response_time_s"] for row in rows[:8]}
    assert times["MATRIX", "dynamic"] == pytest.approx(87.5, abs=0.05)
    assert times["GRAVITY", "dyn-aff"] == pytest.approx(51.5, abs=0.05)
    assert document["pareto_fronts"][1] == {
        "job": "GRAVITY",
        "policies": ["equipartition", "dynamic", "dyn-aff-delay"],
    }


def test_response_times_in_tables(run: Run) -> None:
    code, out, err = run("model", "response-time", "mix-5", "--speed", "10")
    assert (code, err) == (0, "")
    assert "speed × 1, cache × 1 (today)" in out
    assert "speed × 10, cache × 1\n" in out
    assert "87.50" in out


def test_names_are_never_cut(run: Run, model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command in ("response-time", "crossover"):
        _, out, _ = run("model", command, model_file)
        assert "…" not in out


def test_other_values_of_the_baseline_are_explained(run: Run, model_file: Path) -> None:
    assert "x-baseline" in run("model", "response-time", model_file)[1]
    text = model_file.read_text()
    model_file.write_text(text.replace("x-baseline", "x-other"))
    assert "x-baseline" not in run("model", "response-time", model_file)[1]


def test_the_limit_is_not_today(run: Run) -> None:
    today = run("model", "crossover", "mix-5")[1].splitlines()
    limit = run("model", "crossover", "mix-5", "--path", "limit")[1].splitlines()
    column = today[4].index("÷ base")
    assert today[5][column : column + 6].split() == ["today"]
    assert limit[5][column : column + 6].split() == ["at", "1"]


def test_a_model_may_come_from_standard_input(run: Run, model_file: Path) -> None:
    code, out, _ = run("model", "crossover", "-", "--json", stdin=model_file.read_text())
    assert code == 0
    assert len(json.loads(out)["crossovers"]) == 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("allocation = 8.268", "allocation = 0", "job[0].policy.dynamic.allocation: must be at le"),
        ("affinity = 0.21", "affinity = 1.21", "job[0].policy.dynamic.affinity: must be at most"),
        ('baseline = "', 'baseline = "x', "job[0].policy: job 'MATRIX' has 'equipartition', "),
        ("reallocation_time = 0", "reallocation_time = -1", "reallocation_time: must be at leas"),
        ("waste = ", "wasted = ", "job[0].policy.equipartition.wasted: unknown key; did you"),
        ("[[job]]", "[[job]", "line "),
    ],
)
@pytest.mark.parametrize("command", ["response-time", "crossover", "plot"])
def test_bad_models(  # noqa: PLR0913, PLR0917 -- fixtures, and what is changed
    run: Run, model_file: Path, tmp_path: Path, old: str, new: str, place: str, command: str
) -> None:
    text = model_file.read_text()
    assert old in text
    model_file.write_text(text.replace(old, new, 1))
    picture = tmp_path / "a.png"
    arguments = ["plot", "crossover", "-o", picture] if command == "plot" else ["model", command]
    code, out, err = run(*arguments, model_file)
    assert (code, out) == (1, "")
    assert err.startswith(f"dfopt: {model_file}: {place}")
    assert err.count("\n") == 1
    assert not picture.exists()


def test_policies_are_needed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "still.toml"
    path.write_text(
        'format = "dfopt-response-model/1"\nbaseline = "still"\nreallocation_time = 0\n[[job]]\n'
        'name = "J"\npenalty_affinity = 0\npenalty_no_affinity = 0\n[job.policy.still]\n'
        "work = 1\nwaste = 0\nreallocations = 0\naffinity = 1\nallocation = 1\n"
    )
    for arguments in (("model", "crossover"), ("plot", "crossover", "-o", tmp_path / "a.svg")):
        code, out, err = run(*arguments, path)
        assert (code, out) == (1, "")
        assert f"{path}: job[0].policy: job 'J' has no policy besides the baseline" in err
    assert run("model", "response-time", path)[0] == 0


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf"])
@pytest.mark.parametrize("option", ["speed", "cache"])
def test_impossible_machines(run: Run, option: str, value: str) -> None:
    code, out, err = run("model", "response-time", "mix-5", f"--{option}={value}")
    assert (code, out) == (2, "")
    assert f"{option} must be a finite number above 0, not " in err


def test_unknown_paths_are_wrong_usage(run: Run) -> None:
    assert run("model", "crossover", "mix-5", "--path", "up")[0] == 2


def test_unknown_models_are_said(run: Run) -> None:
    code, _, err = run("model", "crossover", "mix-6")
    assert code == 1
    assert (
        "or name a response-time model that comes with dfopt: mix-5, mix-5-by-interval; others are "
        "made by 'dfopt simulate space-sharing' and 'dfopt model from-trace'; "
        "mix-6 is a mix of jobs (dfopt-mix/1), for 'dfopt simulate space-sharing'\n"
    ) in err


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_sheet_is_drawn(run: Run, model_file: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"sheet.{ending}"
    assert run("plot", "crossover", "mix-5", model_file, "--path", "speed", "-o", path) == (
        0,
        "",
        "",
    )
    assert path.stat().st_size > 1000


def test_a_picture_never_replaces_its_model(run: Run, model_file: Path) -> None:
    path = model_file.rename(model_file.with_suffix(".svg"))
    code, _, err = run("plot", "crossover", path, "-o", path)
    assert code == 1
    assert "is what is read from" in err
    assert RESPONSE_TIME.read(path).jobs


def test_unknown_endings_are_refused(run: Run, tmp_path: Path) -> None:
    code, _, err = run("plot", "crossover", "mix-5", "-o", tmp_path / "a.jpg")
    assert code == 1
    assert ".svg, .png or .pdf" in err


@pytest.mark.slow
def test_as_a_process(start: Start) -> None:
    process = start("model", "crossover", "mix-5", "--json")
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (0, "")
    assert json.loads(out)["model"] == "Vaswani and Zahorjan, mix 5"


@pytest.mark.parametrize("command", ["response-time", "crossover"])
def test_formulas_need_no_model(run: Run, command: str) -> None:
    for arguments in (["--formula"], ["--formula", "text"], ["--formula=text"], ["x", "--formula"]):
        code, out, err = run("model", command, *arguments)
        assert (code, err) == (0, "")
        assert "alpha" in out
        assert "\\alpha" not in out
    code, out, err = run("model", command, "--formula", "latex")
    assert (code, err) == (0, "")
    assert "\\alpha" in out
    lines = [line for line in out.splitlines() if line]
    assert all(line.startswith("% ") for line in lines[::2])
    assert all(" = " in line for line in lines[1::2])


def test_a_command_still_needs_its_model(run: Run) -> None:
    code, _, err = run("model", "crossover")
    assert code == 2
    assert "MODEL" in err


@pytest.mark.slow
def test_the_plane_has_a_command(run: Run, tmp_path: Path) -> None:
    drawn = tmp_path / "picture.svg"
    assert run("plot", "crossover-plane", "mix-5", "-o", drawn) == (0, "", "")
    assert drawn.stat().st_size > 1000


def test_assumptions_are_marked(run: Run) -> None:
    _, out, _ = run("model", "response-time", "mix-5")
    matrix = [line.split() for line in out.splitlines() if line.startswith("MATRIX")]
    assert [line[2] for line in matrix] == ["~89.74", "87.50", "87.00", "86.30"]
    assert [line[3] for line in matrix] == ["–", "~0.975", "~0.969", "~0.967"]
    assert "dyn-aff-delay ~98.4%" in " ".join(out.split())
    assert "waste of MATRIX under equipartition" in " ".join(out.split())
    document = json.loads(run("model", "response-time", "mix-5", "--json")[1])
    Draft202012Validator(schema("response-time")).validate(document)
    use = {each["policy"]: each["useful"] for each in document["x-machine-use"]}
    assert use["dyn-aff"] == pytest.approx(0.9811, abs=0.00005)


def test_two_digits_are_shown_where_two_are_known(run: Run, model_file: Path) -> None:
    _, out, _ = run("model", "crossover", "mix-5", "--path", "limit")
    assert "~1,400" in out
    assert "190 to 16,000" in out
    _, out, _ = run("model", "crossover", model_file, "--path", "limit")
    assert "~1,405" in out


def test_counters_write_a_model_and_an_instance(run: Run, tmp_path: Path) -> None:
    samples = tmp_path / "web.csv"
    samples.write_text(published_samples())
    model, instance = tmp_path / "web.toml", tmp_path / "web.json"
    code, out, _ = run("model", "counters", samples, "-o", model, "--json")
    assert code == 0
    document = json.loads(out)
    Draft202012Validator(schema("counters")).validate(document)
    assert document["figures"]["by_cpu"][0]["dispatches"] == 1_000
    Draft202012Validator(schema("counters-model")).validate(tomllib.loads(model.read_text()))
    _, out, _ = run("model", "counters", samples)
    assert "long PHP" in out
    assert "too few dispatches" in out
    code, _, err = run("model", "counters", model, "--instance", instance)
    assert code == 1
    assert "4 of 9 penalties are unknown, such as that of 'PHP' after 'PHP'" in err
    assert run("model", "counters", "ziemba", "--instance", instance, "--cpus", "2")[0] == 0
    assert read_instance(instance).cpus == 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["ziemba", "--long", "1"], "a model has no samples; --long and --cpu are for samples"),
        (["zimba"], "did you mean 'ziemba'?"),
        (["ziemba", "--mean", "geometric"], "'geometric' is not one of 'total', 'dispatches'"),
    ],
)
def test_wrong_uses_of_counters(run: Run, arguments: list[str], problem: str) -> None:
    code, _, err = run("model", "counters", *arguments)
    assert code != 0
    assert problem in " ".join(err.replace("│", " ").split())
