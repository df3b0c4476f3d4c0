"""Comparisons as documents: the keys, the figures, and back again."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dfopt import replace
from dfopt.compare.attainable.frontier import Scheduling, WaitingFrontier
from dfopt.compare.attainable.switches_take_time import WithSwitches
from dfopt.compare.comparison import ONE_TRACE, Comparison, comparisons_document, read_comparisons
from dfopt.compare.comparison_parts import Cause
from dfopt.compare.cost_model import CostModel
from dfopt.compare.written_times import WHOLE, parse_window
from dfopt.errors import DfoptError
from dfopt.files import schema
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyF, PenaltyMatrix
from dfopt.trace.fragment_titles import CommCount
from dfopt.trace.service import service_of
from dfopt.trace.trace import Lengths
from tests.compare.domains.test_domain_pairs import HALVES, TWO_ROUNDS, in_domains
from tests.compare.examples import causes, comparison, frontier, window
from tests.trace.test_service import TWO_ON_ONE_CPU
from tests.trace.traces import SMALL

F_MODEL = CostModel(
    penalty=PenaltyF(read_line=2, write_back=500),
    lines=64,
    lines_by_run_time=True,
    leaves=Leaves.INVALIDATED,
    objective=Objective.MAX_PENALTY,
    capacity=7,
)
UNKNOWN_WAITS = replace(frontier().rows[1], total_wait=None, p99_wait=None)
TIMED = replace(
    frontier().rows[1],
    switches=3,
    with_switches=WithSwitches(
        later=2, latest_by=7, total_wait=100, p99_wait=50, mean_wait=round(100 / 18, 6)
    ),
)
EXAMPLES = [
    comparison(),
    comparison(model=F_MODEL, time_unit=None),
    comparison(windows=(), fragments=(), is_complete=False),
    comparison(
        policy="fcfs",
        model=CostModel(
            penalty=PenaltyMatrix(types=("A", "B"), switch=((1, 2), (3, 4)), start=(5, 6))
        ),
        causes=causes(same_type=12),
    ),
    comparison(frontier=frontier()),
    comparison(parallel_share=0.25),
    comparison(lengths=Lengths.WITHOUT_SWITCHES, frontier=WaitingFrontier(rows=(TIMED,))),
    comparison(
        fragments=(
            replace(comparison().fragments[0], comms=(CommCount(comm="x-sh", tasks=2),)),
            replace(comparison().fragments[1], name="sh"),
        )
    ),
    comparison(domains=in_domains(TWO_ROUNDS, HALVES, parse_window("4"), WHOLE)),
    comparison(service=service_of(TWO_ON_ONE_CPU)),
    comparison(service=service_of(SMALL)),
    comparison(
        frontier=WaitingFrontier(rows=(UNKNOWN_WAITS,), left_out="no wake-ups", is_complete=False)
    ),
]


def save(path: Path, document: dict[str, Any]) -> Path:
    path.write_text(json.dumps(document))
    return path


def test_the_document_says_what_was_compared() -> None:
    document = ONE_TRACE.to_document(comparison())
    assert document["format"] == "dfopt-comparison/1"
    assert document["trace"] == "made by hand"
    assert (document["dispatches"], document["managed"]) == (20, 18)
    assert document["realised"] == {"total": 12, "max": 7, "switches": 12}
    first, whole = document["windows"]
    assert (first["window"], first["bound"], first["rolling"], first["ratio"]) == ("5", 4, 9, 3)
    assert (whole["rolling_ratio"], whole["difference"]) == (2, 8)
    assert document["causes"]["fragment split over CPUs"] == 4
    assert sum(document["causes"].values()) == 12
    assert [row["df"] for row in document["fragments"]] == ["A", "B"]
    assert [row["cpu"] for row in document["cpus"]] == [0, 1]
    assert document["quality"]["unlabelled_share"] == 0.125
    assert document["quality"]["warnings"] == [
        "1 broken chain: at least as many switches are missing; no loss is recorded, so the kernel "
        "did not report them (as the first ones to new threads); if they are many, record with a "
        "larger buffer",
        "no event on CPU 3: idle all the time, or not recorded",
    ]


def test_the_document_says_what_was_attainable() -> None:
    assert ONE_TRACE.to_document(comparison())["frontier"] is None
    found = ONE_TRACE.to_document(comparison(frontier=frontier()))["frontier"]
    recorded, timeline, *_ = found["rows"]
    assert (recorded["scheduling"], recorded["bound"], recorded["optimal"]) == (
        "recorded", None, False,
    )  # fmt: skip
    assert (timeline["bound"], timeline["optimal"]) == (11, True)
    assert (recorded["total_wait"], recorded["mean_wait"]) == (18 * 60_000, 60_000)
    assert [row["patience"] for row in found["patience"]] == [0, 30_000, 10**6]
    assert "schedule" not in recorded


def test_the_schema_knows_every_way_of_scheduling() -> None:
    defined = schema("comparison")["$defs"]
    row = defined["FrontierRow"]["properties"]
    assert row["scheduling"]["$ref"] == "#/$defs/Scheduling"
    assert set(defined["Scheduling"]["enum"]) == {*map(str, Scheduling)}


@pytest.mark.parametrize(
    ("bound", "realised", "ratio"), [(0, 0, 1), (0, 3, None), (3, 10, 3.333333)]
)
def test_ratios_of_nothing(bound: int, realised: int, ratio: float | None) -> None:
    one = window("5", bound=bound, rolling=bound, realised=realised)
    (row,) = ONE_TRACE.to_document(comparison(windows=(one,)))["windows"]
    assert row["ratio"] == row["rolling_ratio"] == ratio


@pytest.mark.parametrize("one", EXAMPLES)
def test_documents_fit_the_schema(one: Comparison) -> None:
    validator = Draft202012Validator(schema("comparison"))
    for document in (ONE_TRACE.to_document(one), comparisons_document([one, one])):
        validator.validate(json.loads(json.dumps(document)))


def test_the_schema_knows_every_cause() -> None:
    assert list(
        schema("comparison")["$defs"]["CpuResult"]["properties"]["causes"]["properties"]
    ) == [*map(str, Cause)]


def test_the_schema_refuses_a_mixture() -> None:
    validator = Draft202012Validator(schema("comparison"))
    document = ONE_TRACE.to_document(comparison())
    assert validator.is_valid(document)
    assert not validator.is_valid({**document, "traces": []})
    assert not validator.is_valid({key: document[key] for key in document if key != "causes"})
    assert not validator.is_valid({**document, "more": 1})


@pytest.mark.parametrize("one", EXAMPLES)
def test_saved_comparisons_are_read_back(tmp_path: Path, one: Comparison) -> None:
    alone = save(tmp_path / "one.json", ONE_TRACE.to_document(one))
    assert read_comparisons(alone) == (one,)
    several = save(tmp_path / "two.json", comparisons_document([one, comparison(name="other")]))
    assert read_comparisons(several) == (one, comparison(name="other"))


def changed(path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    document = ONE_TRACE.to_document(comparison())
    inner: Any = document
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("format",), "dfopt-result/2", "format: the file holds a result"),
        (("causes",), None, "causes: is missing"),
        (("causes", "migration"), "much", "causes.migration: must be an integer"),
        (("windows", 1, "bound"), -1, "windows[1].bound: must be at least 0"),
        (("windows", 0, "window"), "ten", "windows[0].window: 'ten' is no window"),
        (("windows", 0, "bond"), 1, "windows[0].bond: unknown key; did you mean 'bound'?"),
        (("model", "penalty"), {"kind": "h"}, "model.penalty.kind: must be one of"),
        (("model", "cold_start"), 1, "model.cold_start: must be true or false"),
        (("fragments", 0, "df"), 3, "fragments[0].df: must be a string"),
        (("quality", "silent_cpus"), 3, "quality.silent_cpus: must be an array"),
        (("quality",), [], "quality: must be an object"),
        (("quality", "lines"), None, "quality.lines: is missing"),
        (("results",), [], "results: compares schedules of an instance"),
    ],
)
def test_wrong_documents_are_refused(
    tmp_path: Path, path: tuple[str | int, ...], value: object, problem: str
) -> None:
    file = save(tmp_path / "a.json", changed(path, value))
    with pytest.raises(DfoptError) as caught:
        read_comparisons(file)
    assert str(caught.value).startswith(f"{file}: {problem}")


def test_documents_without_later_additions_are_read(tmp_path: Path) -> None:
    document = ONE_TRACE.to_document(comparison())
    del document["policy"], document["frontier"]
    for holder in (document, *document["fragments"], *document["cpus"]):
        del holder["causes"][str(Cause.SAME_TYPE)]
    Draft202012Validator(schema("comparison")).validate(document)
    assert read_comparisons(save(tmp_path / "old.json", document)) == (comparison(),)
