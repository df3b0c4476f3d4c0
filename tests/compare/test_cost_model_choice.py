"""The choice of costs: those asked for, then an instance's, then the trace's, then none."""

import pytest

from dfopt.compare.cost_model import COUNTING, CostModel
from dfopt.compare.cost_model_choice import ModelChoice, chosen_model, parse_capacity, parse_lines
from dfopt.errors import DfoptError, MethodError
from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.penalties import Penalty, PenaltyF, PenaltyG, PenaltyMatrix
from dfopt.trace import TraceHeader

F = PenaltyF(read_line=3, write_back=7)
G = PenaltyG(fill=4, write_back=5)
SILENT = TraceHeader()


def model(header: TraceHeader = SILENT, instance: Instance | None = None, **wanted) -> CostModel:
    return chosen_model(ModelChoice(**wanted, instance=instance), header)


def test_where_nothing_is_known_changes_are_counted() -> None:
    assert model() == CostModel(penalty=COUNTING, objective=Objective.TOTAL_PENALTY)


@pytest.mark.parametrize(
    ("wanted", "base", "penalty"),
    [
        ({"penalty": "g"}, None, COUNTING),
        ({"penalty": "g"}, F, COUNTING),
        ({"penalty": "g"}, G, G),
        ({"fill": 9}, None, PenaltyG(fill=9, write_back=0)),
        ({"fill": 9}, G, PenaltyG(fill=9, write_back=5)),
        ({"write_back": 9}, G, PenaltyG(fill=4, write_back=9)),
        ({"write_back": 9}, F, PenaltyF(read_line=3, write_back=9)),
        ({"read_line": 0}, F, PenaltyF(read_line=0, write_back=7)),
        ({"read_line": 1, "write_back": 2}, G, PenaltyF(read_line=1, write_back=2)),
        ({"lines": 8}, F, F),
        ({"leaves": Leaves.CLEAN}, F, F),
        ({}, F, F),
    ],
)
def test_options_stand_over_the_header(
    wanted: dict[str, object], base: Penalty | None, penalty: Penalty
) -> None:
    assert model(TraceHeader(penalty=base), **wanted).penalty == penalty


@pytest.mark.parametrize("wanted", [{"read_line": 1}, {"write_back": 1}, {"lines": 4}])
def test_penalty_f_needs_both_costs(wanted: dict[str, object]) -> None:
    with pytest.raises(MethodError, match="penalty f needs `"):
        model(**wanted)


def test_an_instance_stands_over_the_header() -> None:
    header = TraceHeader(penalty=G, objective=Objective.TOTAL_PENALTY, capacity=9)
    instance = Instance(cpus=1, penalty=F, cold_start=True, capacity=2)
    found = model(header, instance)
    assert (found.penalty, found.objective, found.cold_start) == (F, Objective.MAX_PENALTY, True)
    # Neither need the trace have kept to.
    assert found.capacity == "observed"
    assert not model(header, instance, cold_start=False).cold_start
    assert model(header, capacity=3).capacity == 3


@pytest.mark.parametrize("penalty", [None, F, G])
def test_the_default_objective_is_the_same_for_every_trace(penalty: Penalty | None) -> None:
    assert model(TraceHeader(penalty=penalty)).objective is Objective.TOTAL_PENALTY
    chosen = model(TraceHeader(penalty=penalty), objective=Objective.MAX_PENALTY)
    assert chosen.objective is Objective.MAX_PENALTY


def test_a_matrix_comes_from_the_header_or_an_instance() -> None:
    table = PenaltyMatrix(types=("T",), switch=((0,),))
    instance = Instance(cpus=1, penalty=table)
    assert model(TraceHeader(penalty=table)).penalty == table
    assert model(TraceHeader(penalty=table), penalty="matrix").penalty == table
    assert model(TraceHeader(penalty=G), instance).penalty == table
    assert model(TraceHeader(penalty=table), penalty="g").penalty == COUNTING


def test_what_traces_are_not_compared_under() -> None:
    with pytest.raises(MethodError, match="there is no matrix; a trace has it in its header"):
        model(TraceHeader(penalty=G), penalty="matrix")
    with pytest.raises(MethodError, match="give the objective"):
        model(TraceHeader(penalty=G, objective=Objective.MAKESPAN))
    with pytest.raises(MethodError, match="penalty g needs `fill` as well"):
        model(penalty="g", write_back=5)
    with pytest.raises(MethodError, match="`leaves` belongs to penalty f"):
        model(leaves=Leaves.CLEAN)


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        ({"penalty": "g", "read_line": 1}, "`read_line` belongs to penalty f, and `penalty=g`"),
        ({"penalty": "g", "lines": 1}, "`lines` belongs to penalty f, and `penalty=g`"),
        ({"penalty": "g", "leaves": Leaves.CLEAN}, "`leaves` belongs to penalty f"),
        ({"fill": 1, "read_line": 1}, "`read_line` belongs to penalty f, and `fill` means g"),
        ({"penalty": "matrix", "write_back": 1}, "`write_back` belongs to penalty f and g"),
        ({"penalty": "f", "fill": 1}, "`fill` belongs to penalty g, and `penalty=f`"),
    ],
)
def test_contradictions_are_refused(wanted: dict[str, object], problem: str) -> None:
    with pytest.raises(DfoptError, match=problem):
        ModelChoice(**wanted)


def test_lines() -> None:
    assert parse_lines("12") == (12, False)
    assert parse_lines("runtime:512") == (512, True)
    for wrong in ("", "-1", "1.5", "runtime:", "time:3", "٣", "9" * 40):
        with pytest.raises(DfoptError, match="is no number of lines"):
            parse_lines(wrong)


def test_capacities() -> None:
    assert [parse_capacity(text) for text in ("observed", "balanced", "unlimited", "3")] == [
        "observed", "balanced", "unlimited", 3,
    ]  # fmt: skip
    for wrong in ("", "-1", "full", "1e3", "9" * 40, "0"):
        with pytest.raises(DfoptError, match="is no capacity"):
            parse_capacity(wrong)
