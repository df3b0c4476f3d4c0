"""The groups of ``perf bench sched messaging``, recovered from fresh recordings.

Needs perf and the permission to record the scheduler's events; takes about two seconds a recording.
"""

import shutil
import subprocess
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean

import pytest

from dfopt.trace.formats import read_trace
from dfopt.trace.labels import infer_fragments
from tests.benchmarks.report import Table
from tests.trace.labels.hackbench import Score, groups_by_fork_order, score

ROUNDS = 2
LONGEST_S = 60
ENOUGH_MESSAGES = 100
"""At least this many messages for each sender make every group visible."""

SURE = (0.5, 0.8, 0.95, 0.99, 1.01)
"""Limits of confidence between which labels are counted together."""

SETTINGS = [
    (groups, messages, kind)
    for groups in (2, 4, 8)
    for messages in (20, 100, 200)
    for kind in ("processes", "threads")
]
COLUMNS = [
    "groups", "messages", "kind", "dispatches", "adjusted Rand index", "unassigned", "wrong",
    "run time right",
]  # fmt: skip


@pytest.fixture(scope="module")
def perf(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program, if it may record here."""
    program = shutil.which("perf")
    if program is None:
        pytest.skip("needs perf")
    data = tmp_path_factory.mktemp("perf") / "try.data"
    tried = subprocess.run(
        [program, "sched", "record", "-o", data, "--", "true"],
        capture_output=True,
        timeout=LONGEST_S,
        check=False,
    )
    if tried.returncode or not data.exists():
        pytest.skip("needs the permission to record scheduler events with perf")
    return program


def recorded(perf: str, folder: Path, *, groups: int, messages: int, kind: str) -> Path:
    """Record one run of the benchmark and return its trace as text."""
    data, text = folder / "perf.data", folder / "trace.txt"
    bench = [perf, "bench", "sched", "messaging", "-g", str(groups), "-l", str(messages)]
    bench += ["-t"] if kind == "threads" else []
    record = [perf, "sched", "record", "-o", str(data), "--", *bench]
    subprocess.run(record, capture_output=True, timeout=LONGEST_S, check=True)
    with text.open("wb") as stream:
        script = [perf, "sched", "script", "-i", str(data)]
        subprocess.run(
            script, stdout=stream, stderr=subprocess.DEVNULL, timeout=LONGEST_S, check=True
        )
    data.unlink()
    return text


def reliability(labels: Sequence[tuple[float, bool]]) -> list[str]:
    """Return how many labels of each confidence are right."""
    bins = [
        (least, [is_right for sure, is_right in labels if least <= sure < limit])
        for least, limit in pairwise(SURE)
    ]
    return [
        f"Confidence from {least}: {sum(some)} of {len(some)} labels right."
        for least, some in bins
        if some
    ]


def test_groups_of_the_message_benchmark(
    perf: str, tmp_path: Path, report: Callable[[Table], None]
) -> None:
    rows: list[list[object]] = []
    scores: list[tuple[int, Score]] = []
    for groups, messages, kind in SETTINGS * ROUNDS:
        text = recorded(perf, tmp_path, groups=groups, messages=messages, kind=kind)
        trace = read_trace(text)
        text.unlink()
        found = score(trace, infer_fragments(trace), groups_by_fork_order(trace))
        scores.append((messages, found))
        shares = [found.index, found.unassigned, found.wrong, found.time_right]
        rows.append([groups, messages, kind, len(trace), *shares])
    enough = [found for messages, found in scores if messages >= ENOUGH_MESSAGES]
    report(
        Table(
            name="inference",
            title="Groups of the message benchmark, inferred from wake-ups of fresh recordings",
            command="python -m pytest tests/benchmarks/test_inference.py",
            columns=COLUMNS,
            rows=sorted(rows, key=lambda row: [str(cell).rjust(3) for cell in row[:3]]),
            notes=[
                *(
                    f"{name}: all tasks as in truth {sum(found.index == 1 for found in some)} of "
                    f"{len(some)}; none wrong {sum(not found.wrong for found in some)}; mean "
                    f"adjusted Rand index {mean(found.index for found in some):.3f}; run time "
                    f"right {mean(found.time_right for found in some):.2%}."
                    for name, some in (
                        ("All", [found for _, found in scores]),
                        (f"From {ENOUGH_MESSAGES} messages on", enough),
                    )
                ),
                *reliability([label for _, found in scores for label in found.labels]),
                "Truth is the order of forks; an unassigned task counts as a fragment of its own.",
            ],
        )
    )
    assert min(found.index for found in enough) >= 0.9
    assert sum(found.index == 1 for _, found in scores) >= 5 / 6 * len(scores)
    labels = [label for _, found in scores for label in found.labels]
    assert mean(is_right for _, is_right in labels) >= 0.99
    assert mean(is_right for sure, is_right in labels if sure >= 0.99) >= 0.99
    assert mean(found.time_right for found in enough) >= 0.98
