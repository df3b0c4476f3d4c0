"""Measurements, penalties by quantum and replications in files of the response-time model."""

import tomllib

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from dfopt import replace
from dfopt.errors import DfoptError
from dfopt.files import schema
from dfopt.files.formats import Format
from dfopt_models.crossover import (
    crossovers,
    possible_crossovers,
    relative_along,
    relative_range_along,
)
from dfopt_models.errors import ModelError
from dfopt_models.growth import GrowthPath
from dfopt_models.model import parameter_text
from dfopt_models.response_time import (
    POLICY_NUMBERS,
    RESPONSE_TIME,
    PenaltiesOfQuantum,
    assumptions_of,
    assumptions_of_comparison,
    penalties_at,
    penalties_of_policy,
    response_time_result,
)

TOP = """
format = "dfopt-response-model/1"
baseline = "still"
reallocation_time = 0.001
processors = 4

[[job]]
name = "only"
"""
SINGLE = """
penalty_affinity = 0.002
penalty_no_affinity = 0.004
"""
BY_QUANTUM = """
[[job.penalties]]
quantum = 0.1
affinity = 0.001
no_affinity = 0.002

[[job.penalties]]
quantum = 0.4
affinity = 0.003
no_affinity = 0.006
"""
STILL = """
[job.policy.still]
work = 70.0
waste = 10.0
reallocations = 0
affinity = 1.0
allocation = 2.0
"""
MEASURED = """
[job.policy.moving]
measured = { affinity = 0.5, reallocations = 400, interval = 0.2, response_time = 38 }
x-baseline = { work = "own" }
"""
TABLE = (
    PenaltiesOfQuantum(quantum=0.1, affinity=0.001, no_affinity=0.002),
    PenaltiesOfQuantum(quantum=0.4, affinity=0.003, no_affinity=0.006),
)


def test_what_is_measured_gives_the_parameters():
    model = RESPONSE_TIME.parse(TOP + SINGLE + STILL + MEASURED)
    case = model.case("only", "moving")
    # 80 processor-seconds, less 400 reallocations of 1 + 3 ms.
    assert case.work == pytest.approx(80 - 400 * 0.004)
    assert case.allocation == pytest.approx(80 / 38)
    assert model.comparison("only", "moving").baseline.work == case.work
    assert RESPONSE_TIME.parse(RESPONSE_TIME.text(model)) == model


def test_penalties_are_those_of_the_interval():
    model = RESPONSE_TIME.parse(TOP + BY_QUANTUM + STILL + MEASURED)
    case = model.case("only", "moving")  # 0.2 s is halfway between 0.1 s and 0.4 s
    assert (case.penalty_affinity, case.penalty_no_affinity) == pytest.approx((0.002, 0.004))
    assert case.work == pytest.approx(80 - 400 * 0.004)
    assert RESPONSE_TIME.parse(RESPONSE_TIME.text(model)) == model


def test_interpolation_meets_the_table():
    for entry in TABLE:
        assert penalties_at(TABLE, entry.quantum) == pytest.approx(
            (entry.affinity, entry.no_affinity)
        )
    assert penalties_at(TABLE[:1], 7.0) == (0.001, 0.002)
    assert penalties_at(TABLE, 0.8) == pytest.approx((0.004, 0.008))
    assert penalties_at(TABLE, 100.0) == penalties_at(TABLE, 0.8)
    assert penalties_at(TABLE, 0.001) == penalties_at(TABLE, 0.05)
    assert penalties_at(TABLE, 0.05) == pytest.approx((0.0, 0.0))


MOVING = {"work": 80.0, "waste": 0.0, "reallocations": 400}


def test_an_interval_that_was_not_measured_fits_its_penalties():
    found = penalties_of_policy(TABLE, MOVING | {"affinity": 0.5}, 0.001)
    interval = 80 / 400 + 0.001 + 0.5 * sum(found)
    assert found == pytest.approx(penalties_at(TABLE, interval), rel=1e-12)
    model = RESPONSE_TIME.parse(
        TOP + BY_QUANTUM + STILL + STILL.replace("still", "moving").replace("= 0\n", "= 400\n")
    )
    case = model.case("only", "moving")
    assert case.penalty_affinity == pytest.approx(
        penalties_of_policy(TABLE, MOVING | {"affinity": 1.0}, 0.001)[0]
    )
    assert model.case("only", "still").penalty_affinity == TABLE[-1].affinity


REPLICATIONS = """
[job.policy.still.x-replications]
work = [69.0, 70.0, 71.0]
waste = [10.0, 10.0, 10.0]
reallocations = [0, 0, 0]
affinity = [1.0, 1.0, 1.0]
allocation = [2.0, 2.0, 2.0]

[job.policy.moving]
work = 70.0
waste = 0.0
reallocations = 400
affinity = 0.5
allocation = 2.0

[job.policy.moving.x-replications]
work = [69.0, 70.0, 71.0]
waste = [0.0, 0.0, 0.0]
reallocations = [396, 400, 404]
affinity = [0.5, 0.5, 0.5]
allocation = [2.0, 2.0, 2.0]
"""


@pytest.mark.parametrize("path", list(GrowthPath))
def test_replications_are_compared_in_pairs(path):
    """The work differs by 3 %, but both policies have the same in each replication."""
    model = RESPONSE_TIME.parse(TOP + SINGLE + STILL + REPLICATIONS)
    assert RESPONSE_TIME.parse(RESPONSE_TIME.text(model)) == model
    comparison = model.comparison("only", "moving")
    assert comparison.has_ranges
    (crossing,) = crossovers(comparison, path)
    ((least, most),) = possible_crossovers(comparison, path)
    assert least < crossing.product < most < 1.2 * least
    products = np.geomspace(1, 2 * most, 50)
    low, high = relative_range_along(comparison, products, path)
    middle = relative_along(comparison, products, path)
    assert (low < middle).all()
    assert (middle < high).all()
    inside = (products >= least) & (products <= most)
    assert ((low <= 1) & (high >= 1) == inside).all()
    # t(0.975, 2) = 4.303: four reallocations more or less, of 4 ms today and 0.8 % of 400.
    if path is not GrowthPath.LIMIT:
        half_width = 4.303 * 4 * 0.004 / 3**0.5 / 80
        assert high[0] - middle[0] == pytest.approx(half_width, rel=1e-3)


@pytest.mark.parametrize("path", GrowthPath)
def test_a_replication_may_be_the_mean_of_all(path):
    """What it differs from the mean by is then 0, whose square has fewer coefficients."""
    text = TOP + SINGLE + STILL + REPLICATIONS.replace("[396, 400, 404]", "[272, 400, 528]")
    comparison = RESPONSE_TIME.parse(text).comparison("only", "moving")
    low, high = relative_range_along(comparison, np.array([1.0, 10.0]), path)
    assert (low < high).all()


def test_shipped_sources_tell_assumptions():
    model = RESPONSE_TIME.read("mix-5")
    assert not assumptions_of(model, "MATRIX", "dynamic")
    theirs = ("waste of MATRIX under equipartition", "allocation of MATRIX under equipartition")
    assert tuple(assumptions_of(model, "MATRIX", "equipartition")) == theirs
    assert assumptions_of_comparison(model, "MATRIX", "dynamic") == theirs
    said = response_time_result(model).tables(model)
    assert any(table.title == "useful share of ~16 processors" for table in said)
    assert any("; processors" in note for table in said for note in table.notes)


SECOND = BY_QUANTUM[BY_QUANTUM.rindex("[[job") :]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            TOP + SINGLE + STILL + MEASURED.replace("= 400,", "= 0,"),
            r"job\[0\].policy.moving.measured.reallocations: must be at least 2\^-62, not 0",
        ),
        (
            TOP + SINGLE + STILL + MEASURED.replace("interval =", "intervall ="),
            r"measured.intervall: unknown key; did you mean 'interval'",
        ),
        (
            TOP + SINGLE + STILL + MEASURED.replace("affinity = 0.5, ", ""),
            r"measured.affinity: is missing",
        ),
        (
            TOP + SINGLE + STILL + MEASURED.replace("0.2,", "0.003,"),
            r"measured.interval: is 0.003 s, and a reallocation alone takes 0.004 s",
        ),
        (
            TOP + SINGLE + STILL + MEASURED + "work = 5.0\n",
            r"policy.moving.work: follows from what is measured; leave it out",
        ),
        (
            TOP + SINGLE + STILL + MEASURED + "x-range = { work = [1.0, 2.0] }\n",
            r"x-range: there is no parameter 'work'; known",
        ),
        (
            TOP + SINGLE + STILL + MEASURED + "x-range = { interval = [0.3, 0.4] }\n",
            r"x-range.interval: must hold the value of interval, 0.2",
        ),
        (
            TOP + SINGLE + STILL + MEASURED.replace('"own"', '"mine"'),
            r"x-baseline.work: must be 'own' or a number, not 'mine'",
        ),
        (
            TOP + SINGLE + BY_QUANTUM + STILL + MEASURED,
            r"job\[0\].penalty_affinity: is given by quantum",
        ),
        (
            TOP + SECOND + BY_QUANTUM + STILL + MEASURED,
            r"penalties\[1\].quantum: is 0.1, not more than the one before",
        ),
        (
            TOP + BY_QUANTUM.replace("= 0.001", "= -0.001") + STILL + MEASURED,
            r"penalties\[0\].affinity: must be at least 0",
        ),
        (
            TOP.replace("processors = 4", "processors = 0") + SINGLE + STILL + MEASURED,
            r"processors: must be at least 2\^-62, not 0",
        ),
        (
            TOP + "copies = 0\n" + SINGLE + STILL + MEASURED,
            r"job\[0\].copies: must be at least 1, not 0",
        ),
        (
            TOP + SINGLE + STILL + REPLICATIONS.replace("[396, 400, 404]", "[396, 400]"),
            r"policy.moving.x-replications: must have arrays of one length",
        ),
        (
            TOP + SINGLE + STILL + REPLICATIONS.replace("waste = [0.0, 0.0, 0.0]\n", ""),
            r"x-replications.waste: must be at least 2 numbers",
        ),
    ],
)
def test_wrong_files_are_refused_with_their_place(text, problem):
    with pytest.raises(DfoptError, match=problem):
        RESPONSE_TIME.parse(text)


def test_replications_must_be_pairs():
    text = TOP + SINGLE + STILL + REPLICATIONS
    model = RESPONSE_TIME.parse(text)
    job = model.jobs[0]
    moving = job.policies["moving"]
    fewer = {name: values[:2] for name, values in moving.replications.items()}
    assert set(fewer) == set(POLICY_NUMBERS)
    job = replace(job, policies={**job.policies, "moving": replace(moving, replications=fewer)})
    with pytest.raises(ModelError, match="has 2 replications, and the baseline 3"):
        replace(model, jobs=(job,)).comparison("only", "moving")


@pytest.mark.parametrize("name", RESPONSE_TIME.shipped())
def test_shipped_models_have_the_published_schema(name):
    shipped = tomllib.loads(parameter_text(name, Format.RESPONSE_MODEL))
    written = tomllib.loads(RESPONSE_TIME.text(RESPONSE_TIME.read(name)))
    validator = Draft202012Validator(schema("response-model"))
    for document in (shipped, written, tomllib.loads(TOP + SINGLE + STILL + REPLICATIONS)):
        validator.validate(document)
    assert not validator.is_valid(shipped | {"baseline": 5})
