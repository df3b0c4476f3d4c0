"""Results go into files and come back the same, true or not."""

import json

import pytest
from hypothesis import given

from dfopt.errors import DfoptError
from dfopt.files import read_result, result_from_document, result_to_document, write_result
from dfopt.problem.cache import Leaves
from dfopt.problem.certificate import (
    ArcCount,
    CompleteSearch,
    Counting,
    CrossingCount,
    EntryCount,
    EvenShares,
    Exhaustive,
    Fork,
    GroupResource,
    Leaf,
    MeetingCount,
    Over,
    Proof,
    TaskClass,
    UseCount,
    VisitCount,
)
from dfopt.problem.result import InstanceName, Result, SearchStep, Status, StopReason
from dfopt.problem.schedule import CpuSchedule, Schedule
from tests.files.examples import DIGEST, RESULT, RESULT_BY_HAND, changed
from tests.result_strategies import results

EXAMPLE_RESULT = Result(
    instance=InstanceName(name="two fragments", sha256=DIGEST),
    status=Status.FEASIBLE,
    stop_reason=StopReason.TIME_LIMIT,
    objective=40,
    lower_bound=34,
    gap=0.15,
    schedule=Schedule(
        cpus=(
            CpuSchedule(tasks=("v3", "v1"), cost=40, starts=(0, 7)),
            CpuSchedule(tasks=(), cost=0),
        )
    ),
    certificate=Proof(
        threshold=33,
        over=Over.CONTENTS,
        classes=(
            TaskClass(df="DF1", leaves=Leaves.DIRTY),
            TaskClass(df="DF1", lines=4, exec=2),
        ),
        counts=(EntryCount(classes=(1,)),),
        nodes=(Leaf(weights=((0, -250),), prices=((0, -40),), bin_weights=(1000, 0)),),
    ),
    method="configuration",
    seed=0,
    wall_time_s=0.41,
    history=(
        SearchStep(time_s=0.01, lower_bound=30, objective=None),
        SearchStep(time_s=0.02, lower_bound=34, objective=40),
    ),
    versions={"dfopt": "1.0", "or tools": "9.12"},
)


def test_every_key_is_read():
    assert result_from_document(RESULT) == EXAMPLE_RESULT


def test_every_key_is_written():
    assert result_to_document(EXAMPLE_RESULT) == RESULT


@pytest.mark.slow
@given(results())
def test_result_document_result(result):
    document = result_to_document(result)
    again = result_from_document(json.loads(json.dumps(document)))
    assert again == result
    assert result_to_document(again) == document


@pytest.mark.slow
@pytest.mark.parametrize("name", ["result.json", "result.json.gz"])
@given(result=results())
def test_result_file_result(tmp_path_factory, name, result):
    path = tmp_path_factory.getbasetemp() / name
    write_result(result, path)
    assert read_result(path) == result


def test_result_written_by_hand():
    assert result_from_document(RESULT_BY_HAND) == Result(
        instance=InstanceName(sha256=DIGEST),
        status=Status.FEASIBLE,
        stop_reason=StopReason.GIVEN,
        objective=4,
        lower_bound=0,
        gap=1.0,
        schedule=Schedule(cpus=(CpuSchedule(tasks=("a",), cost=4),)),
        certificate=None,
        method=None,
        seed=None,
        wall_time_s=None,
        history=(),
        versions={},
    )


@pytest.mark.parametrize(
    ("fields", "gap"),
    [
        ({}, 1.0),
        ({"lower_bound": 3}, 0.25),
        ({"lower_bound": 4, "gap": 0.5}, 0.5),
        ({"lower_bound": 4, "gap": None}, None),
        ({"lower_bound": 5}, -0.25),
        ({"objective": 0}, 0.0),
        ({"objective": None}, None),
        ({"lower_bound": None}, None),
    ],
)
def test_gap_is_filled_in_only_where_it_is_missing(fields, gap):
    assert result_from_document(RESULT_BY_HAND | fields).gap == gap


def test_a_wrong_result_is_read_without_complaint():
    wrong = {"status": "optimal", "stop_reason": "time-limit", "objective": 3, "lower_bound": 7}
    result = result_from_document(RESULT_BY_HAND | wrong)
    assert (result.objective, result.lower_bound, result.gap) == (3, 7, -4 / 3)


@pytest.mark.parametrize(
    ("document", "certificate"),
    [
        ({"kind": "exhaustive", "threshold": 3}, Exhaustive(threshold=3)),
        ({"kind": "exhaustive"}, Exhaustive()),
        (
            {"kind": "search", "threshold": 3, "solver": "S"},
            CompleteSearch(threshold=3, solver="S"),
        ),
        ({"kind": "search"}, CompleteSearch()),
        ({"kind": "counting", "argument": "arrivals"}, Counting(argument="arrivals")),
        (
            {
                "kind": "even-shares",
                "threshold": 9,
                "total_penalty": 4,
                "proof": {"kind": "exhaustive", "threshold": 3},
            },
            EvenShares(threshold=9, total_penalty=4, proof=Exhaustive(threshold=3)),
        ),
        (
            {
                "kind": "proof",
                "threshold": 4,
                "over": "contents",
                "classes": [{"df": "A", "leaves": "dirty"}, {"df": "B"}],
                "counts": [
                    {"kind": "visits", "classes": [0]},
                    {"kind": "visits", "classes": [0, 1], "tasks": 3},
                    {"kind": "entries", "classes": [0]},
                    {"kind": "meetings", "classes": [0, 1]},
                ],
                "nodes": [
                    {"count": 1, "at_most": 2},
                    {"weights": [[0, -3]], "prices": [[1, 5]], "scale": 2},
                    {"prices": [[0, 1]]},
                ],
            },
            Proof(
                threshold=4,
                over=Over.CONTENTS,
                classes=(TaskClass(df="A", leaves=Leaves.DIRTY), TaskClass(df="B")),
                counts=(
                    VisitCount(classes=(0,)),
                    VisitCount(classes=(0, 1), tasks=3),
                    EntryCount(classes=(0,)),
                    MeetingCount(classes=(0, 1)),
                ),
                nodes=(
                    Fork(count=1, at_most=2),
                    Leaf(weights=((0, -3),), prices=((1, 5),), scale=2),
                    Leaf(prices=((0, 1),)),
                ),
            ),
        ),
        (
            {
                "kind": "proof",
                "over": "orders",
                "classes": [{}, {"node": "a"}],
                "counts": [
                    {"kind": "crossings", "within": [1], "last_of": [1]},
                    {"kind": "arcs", "before": 0, "after": 1},
                ],
                "nodes": [{"leaving": [[0, 1]], "weights": [[1, 2]], "beginnings": True}],
            },
            Proof(
                over=Over.ORDERS,
                classes=(TaskClass(), TaskClass(node="a")),
                counts=(CrossingCount(within=(1,), last_of=(1,)), ArcCount(before=0, after=1)),
                nodes=(Leaf(leaving=((0, 1),), weights=((1, 2),), beginnings=True),),
            ),
        ),
        (
            {
                "kind": "proof",
                "over": "supports",
                "classes": [{"type": "a", "least_cost": 2}],
                "nodes": [{"scale": 0, "bin_weights": [-4]}],
            },
            Proof(
                over=Over.SUPPORTS,
                classes=(TaskClass(type="a", least_cost=2),),
                nodes=(Leaf(scale=0, bin_weights=(-4,)),),
            ),
        ),
        (
            {
                "kind": "proof",
                "over": "groups",
                "classes": [{"fragment_size": 3}],
                "counts": [{"kind": "uses", "of": "room"}],
                "nodes": [{"weights": [[0, 1]], "prices": [[0, 2]]}],
            },
            Proof(
                over=Over.GROUPS,
                classes=(TaskClass(fragment_size=3),),
                counts=(UseCount(of=GroupResource.ROOM),),
                nodes=(Leaf(weights=((0, 1),), prices=((0, 2),)),),
            ),
        ),
        (None, None),
    ],
)
def test_certificates(document, certificate):
    result = result_from_document(RESULT_BY_HAND | {"certificate": document})
    assert result.certificate == certificate
    assert result_to_document(result)["certificate"] == document


def test_keys_of_ones_own_are_ignored_at_every_level():
    own = {"x-note": [{"deep": None}], "$schema": "result.schema.json"}

    def with_own_keys(value):
        if isinstance(value, list):
            return [with_own_keys(item) for item in value]
        if isinstance(value, dict):
            return {key: with_own_keys(item) for key, item in value.items()} | own
        return value

    assert result_from_document(with_own_keys(RESULT)) == EXAMPLE_RESULT


CPU = ("schedule", "cpus", 0)
CLASS = ("certificate", "classes", 0)
NODE = ("certificate", "nodes", 0)
BAD = [
    (("format",), "dfopt-instance/1", "format: the file holds an instance (dfopt-instance/1), "),
    (("instance",), ..., "instance: is missing; it is required"),
    (("status",), ..., "status: is missing; it is required"),
    (("objective",), ..., "objective: is missing; it is required"),
    (("schedule",), ..., "schedule: is missing; it is required"),
    (("instance",), "two fragments", "instance: must be an object {…}, not 'two fragments'"),
    (("instance", "sha256"), ..., "instance.sha256: is missing; it is required"),
    (("instance", "sha256"), "12ab", "instance.sha256: must be 64 hexadecimal digits in"),
    (("instance", "sha256"), DIGEST.upper(), "instance.sha256: must be 64 hexadecimal digits in"),
    (("instance", "sha256"), DIGEST + "\n", "instance.sha256: must be 64 hexadecimal digits in"),
    (("instance", "name"), None, "instance.name: must not be null; leave the key out"),
    (("status",), "optimum", "status: must be one of 'optimal', 'feasible', 'infeasible'"),
    (("status",), None, "status: must not be null; give it a value"),
    (("stop_reason",), "bored", "stop_reason: must be one of 'proof', 'gap-limit', 'time-limit'"),
    (("objective",), 40.0, "objective: must be an integer, not 40.0"),
    (("objective",), -1, "objective: must be at least 0, not -1"),
    (("objective",), True, "objective: must be an integer, not True"),
    (("objective",), 10**30, f"objective: is {10**30}, more than 2^62"),
    (("lower_bound",), "34", "lower_bound: must be an integer, not '34'"),
    (("gap",), "0", "gap: must be a number, not '0'"),
    (("gap",), False, "gap: must be a number, not false"),
    (("gap",), float("nan"), "gap: NaN and infinite or huge numbers are not allowed"),
    (("wall_time_s",), 10**400, "wall_time_s: must be finite and at most 2^62, not a h"),
    (("wall_time_s",), -1e300, "wall_time_s: must be finite and at most 2^62, not -1"),
    (("seed",), 1.5, "seed: must be an integer, not 1.5"),
    (("method",), None, "method: must not be null; leave the key out"),
    (("metod",), "dp", "metod: unknown key; did you mean 'method'?"),
    (("schedule",), [], "schedule: must be an object {…}, not an array"),
    (("schedule", "cpu"), [], "schedule.cpu: unknown key; did you mean 'cpus'?"),
    (("schedule", "cpus"), None, "schedule.cpus: must not be null"),
    (("schedule", "cpus"), {}, "schedule.cpus: must be an array […], not an object"),
    (CPU, None, "schedule.cpus[0]: must be an object {…}, not null"),
    ((*CPU, "cost"), ..., "schedule.cpus[0].cost: is missing; it is required"),
    (("schedule", "cpus", 1, "cost"), 4.0, "schedule.cpus[1].cost: must be an integer, not 4.0"),
    ((*CPU, "tasks"), ["v3", 1], "schedule.cpus[0].tasks[1]: must be a string, not 1"),
    ((*CPU, "tasks"), "v3", "schedule.cpus[0].tasks: must be an array […], not 'v3'"),
    ((*CPU, "starts"), [0], "schedule.cpus[0].starts: has 1 entries but there are 2 tasks"),
    ((*CPU, "starts"), [0, 0.5], "schedule.cpus[0].starts[1]: must be an integer, not 0.5"),
    (("certificate",), [], "certificate: must be an object {…}, not an array"),
    (("certificate",), {}, "certificate.kind: is missing; it is required"),
    (("certificate", "kind"), "faith", "certificate.kind: must be one of 'proof', 'counting', 'ex"),
    (("certificate", "solver"), "S", "certificate.solver: belongs to the kind 'search', and this"),
    (("certificate", "node"), [], "certificate.node: unknown key; did you mean 'nodes'"),
    (("certificate", "nodes"), ..., "certificate.nodes: is missing; the kind 'proof'"),
    (("certificate", "over"), ..., "certificate.over: is missing; the kind 'proof'"),
    (("certificate", "over"), "faith", "certificate.over: must be one of 'contents', 'supports', "),
    (("certificate", "threshold"), 3.5, "certificate.threshold: must be an integer, not 3.5"),
    (("certificate", "counts"), {}, "certificate.counts: must be an array […], not"),
    (("certificate", "counts", 0, "kind"), "visit", "certificate.counts[0].kind: must be one of '"),
    (("certificate", "counts", 0, "classes"), [-1], "certificate.counts[0].classes[0]: must be at"),
    (CLASS, 250, "certificate.classes[0]: must be an object {…}, not 250"),
    ((*CLASS, "df"), None, "certificate.classes[0].df: must not be null"),
    ((*CLASS, "weight"), 1, "certificate.classes[0].weight: unknown key"),
    ((*CLASS, "leaves"), "dirt", "certificate.classes[0].leaves: must be one of 'clean', 'dirty'"),
    (NODE, 0, "certificate.nodes[0]: must be an object {…}, not 0"),
    (NODE, {"count": 0}, "certificate.nodes[0].at_most: is missing; it is required"),
    (NODE, {"count": 0, "at_most": 1, "scale": 1}, "certificate.nodes[0].scale: unknown key; know"),
    ((*NODE, "weight"), [], "certificate.nodes[0].weight: unknown key; did you mean 'weights'?"),
    ((*NODE, "weights"), [[0]], "certificate.nodes[0].weights[0]: must be an array of 2 values"),
    ((*NODE, "weights"), [[-1, 1]], "certificate.nodes[0].weights[0][0]: must be at least 0, not"),
    ((*NODE, "weights"), [[0, 0.5]], "certificate.nodes[0].weights[0][1]: must be an integer, not"),
    ((*NODE, "weights"), [[0, -(10**30)]], "certificate.nodes[0].weights[0][1]: must be at least "),
    (("history",), {}, "history: must be an array […], not an object"),
    (("history", 1, "time_s"), "0", "history[1].time_s: must be a number, not '0'"),
    (("history", 1, "lower_bound"), None, "history[1].lower_bound: must not be null"),
    (("history", 1, "bound"), 1, "history[1].bound: unknown key; did you mean 'lower_bound'?"),
    (("versions",), [], "versions: must be an object {…}, not an array"),
    (("versions", "dfopt"), 1, "versions.dfopt: must be a string, not 1"),
    (("versions", "or\ntools"), 1, "versions['or\\ntools']: must be a string, not 1"),
]  # fmt: skip


SHARES = {"kind": "even-shares", "total_penalty": 1, "proof": {"kind": "exhaustive"}}
BAD_CERTIFICATES = [
    (SHARES, ("proof", "kind"), "even-shares", "proof.kind: must be one of 'proof', 'counting', "),
    (SHARES, ("proof",), {"kind": "search"}, "proof.kind: must be one of 'proof', 'counting', "),
]  # fmt: skip


@pytest.mark.parametrize(("certificate", "path", "value", "expected"), BAD_CERTIFICATES)
def test_wrong_certificates(certificate, path, value, expected):
    document = RESULT_BY_HAND | {"certificate": changed(certificate, path, value)}
    with pytest.raises(DfoptError) as caught:
        result_from_document(document)
    assert str(caught.value).startswith(f"certificate.{expected}")


@pytest.mark.parametrize(("path", "value", "expected"), BAD, ids=[case[-1][:40] for case in BAD])
def test_wrong_shape(tmp_path, path, value, expected):
    file = tmp_path / "result.json"
    file.write_text(json.dumps(changed(RESULT, path, value)))
    with pytest.raises(DfoptError) as caught:
        read_result(file)
    line = str(caught.value)
    assert len(line.splitlines()) == 1
    assert line.startswith(f"{file}: {expected}")
