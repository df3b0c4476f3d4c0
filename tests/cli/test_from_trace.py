"""``dfopt model from-trace``."""

import json
from pathlib import Path

from dfopt_models.response_time import RESPONSE_TIME
from tests.cli.conftest import Run

ROWS = [
    {"cpu": 0, "task": "1", "df": "a", "start": 0, "end": 10},
    {"cpu": 1, "task": "2", "df": "b", "start": 0, "end": 25},
    {"cpu": 0, "task": "2", "df": "b", "start": 30, "end": 40},
    {"cpu": 0, "task": "1", "df": "a", "start": 40, "end": 50},
]


def trace(path: Path, policy: str, scale: int = 1) -> Path:
    header = {
        "format": "dfopt-trace/1",
        "cpus": 2,
        "time_unit": "us",
        "policy": policy,
    }
    rows = [row | {key: row[key] * scale for key in ("start", "end")} for row in ROWS]  # type: ignore[operator]
    path.write_text("\n".join(json.dumps(line) for line in [header, *rows]) + "\n")
    return path


def test_a_model_of_two_policies(run: Run, tmp_path: Path) -> None:
    first, second = trace(tmp_path / "a.jsonl", "fair"), trace(tmp_path / "b.jsonl", "lazy", 2)
    output = tmp_path / "model.toml"
    code, out, err = run("model", "from-trace", first, second, "--baseline", "fair", "-o", output)
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.startswith(("a", "b"))]
    assert rows[0] == ["a", "fair", "1", "50", "µs", "0.400", "2", "50%", "10", "µs"]
    model = RESPONSE_TIME.read(output)
    assert (model.baseline, model.processors) == ("fair", 2)
    measured = model.job("b").policies["lazy"].measured
    assert measured is not None
    assert measured.response_time == 80e-6
    assert run("model", "crossover", output)[0] == 0


def test_policies_may_be_named(run: Run, tmp_path: Path) -> None:
    path = trace(tmp_path / "a.jsonl", "fair")
    code, out, err = run("model", "from-trace", f"one={path}", f"two={path}")
    assert (code, err) == (0, "")
    assert {line.split()[1] for line in out.splitlines() if line.startswith("a")} == {"one", "two"}


def test_wrong_usage(run: Run, tmp_path: Path) -> None:
    path = trace(tmp_path / "a.jsonl", "fair")
    code, _, err = run("model", "from-trace", path, path, "--baseline", "other")
    assert code == 1
    assert err == ("dfopt: there is no policy 'other' to compare with; the traces have fair\n")
    code, _, err = run("model", "from-trace", f"={path}".replace("/", ""))
    assert code == 2
    code, _, err = run("model", "from-trace", path)
    assert "all traces are of the policy fair" in err
