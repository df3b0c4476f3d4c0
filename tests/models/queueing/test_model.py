"""Files of queueing models: what they hold, and what is wrong with them."""

import json
import tomllib
from importlib import resources

import jsonschema
import pytest

from dfopt.errors import DfoptError
from dfopt.files import schema
from dfopt.files.formats import Format
from dfopt_models.formulas import Formula
from dfopt_models.locks import all_busy
from dfopt_models.model import shipped_parameters
from dfopt_models.plot import plot_queueing
from dfopt_models.queueing import (
    QUEUEING,
    SetCache,
    ideal,
    moving_service,
    partition,
    queue_rows,
    queueing_result,
    two_cpu_crossings,
)
from tests.formulas import value_of

OWN = """
format = "dfopt-queueing-model/1"
service = 2.0
reload = 0.4
cpus = [1, 4]
[cache]
sets = 64
ways = 8
line_time = 1e-7
[[program]]
name = "a"
lines = 300
[[program]]
name = "b"
penalty_no_affinity = 2e-5
"""


def test_a_file_of_ones_own() -> None:
    model = QUEUEING.parse(OWN, name="server")
    rows = queue_rows(model, [0.5])
    document = json.loads(
        json.dumps(QUEUEING.results.to_document(queueing_result(model, load=[0.5])))
    )
    jsonschema.validate(document, schema("queueing"))
    jsonschema.validate(tomllib.loads(OWN), schema("queueing-model"))
    assert document["model"] == "server"
    assert [row["partition_s"] for row in document["response_times"]] == [4, 4]
    one, four = document["crossings"]
    assert one["loads"] is None
    assert four["largest_reload_s"] == pytest.approx(2 * 0.599, abs=0.001)
    assert document["programs"][0]["lines"] == 300
    assert document["programs"][1]["penalty_no_affinity_s"] == pytest.approx(2e-5, rel=0.01)
    assert rows[1].best_known == min(rows[1].partition, rows[1].shared)


@pytest.mark.parametrize("name", ["short-jobs", "symmetry"])
def test_the_shipped_files(name: str) -> None:
    assert name in shipped_parameters(Format.QUEUEING_MODEL)
    text = (resources.files("dfopt_models") / "parameters" / f"{name}.toml").read_text()
    jsonschema.validate(tomllib.loads(text), schema("queueing-model"))
    model = QUEUEING.read(name)
    document = QUEUEING.results.to_document(queueing_result(model))
    jsonschema.validate(json.loads(json.dumps(document)), schema("queueing"))
    assert {"service", "reload", "cpus"} == model.sources.keys()
    assert all(program.sources for program in model.programs)


WRONG = {
    "no format": (OWN.replace("format", "x-format"), "format: is missing"),
    "another format": (OWN.replace("queueing-model", "mix"), "the file holds a mix of jobs"),
    "a misspelt key": (OWN.replace("reload =", "reloads ="), "reloads: unknown key; did you mean"),
    "no service": (OWN.replace("service = 2.0", ""), "service: is missing"),
    "no time": (OWN.replace("2.0", "0"), "service: must be more than 0, not 0"),
    "an endless time": (
        OWN.replace("2.0", "inf"),
        "service: must be finite and at most 2^62, not inf",
    ),
    "a negative reload": (OWN.replace("0.4", "-1"), "reload: must be at least 0, not -1"),
    "a text": (OWN.replace("0.4", '"0.4"'), "reload: must be a number, not '0.4'"),
    "no CPUs": (OWN.replace("[1, 4]", "[]"), "cpus: has 0 entries; at least 1 are needed"),
    "one number": (OWN.replace("[1, 4]", "4"), "cpus: must be an array"),
    "no CPU": (OWN.replace("[1, 4]", "[0]"), "cpus[0]: must be at least 1, not 0"),
    "half a CPU": (OWN.replace("[1, 4]", "[1, 2.5]"), "cpus[1]: must be an integer"),
    "no ways": (OWN.replace("ways = 8", "ways = 0"), "cache.ways: must be"),
    "too many ways": (
        OWN.replace("ways = 8", "ways = 9999"),
        "cache.ways: is 9999; at most 1024 are supported",
    ),
    "lines for nothing": (OWN.replace("1e-7", "0"), "cache.line_time: must be more than 0, not 0"),
    "a range": (f"{OWN}x-range = {{}}", "program[1].x-range: has no meaning"),
    "two names": (OWN.replace('"b"', '"a"'), "program[1].name: 'a' is also the name"),
    "neither": (OWN.replace("lines = 300", ""), "program[0]: needs either `lines` or"),
    "both": (OWN.replace("lines = 300", "lines = 3\npenalty_no_affinity = 1"), "program[0]: needs"),
    "more than the cache": (
        OWN.replace("2e-5", "2e-3"),
        "program[1].penalty_no_affinity: must be less than a full cache takes, 5.12e-05 s",
    ),
    "programs without a cache": (
        'format = "dfopt-queueing-model/1"\nservice = 1\nreload = 0\ncpus = [2]\n'
        '[[program]]\nname = "a"\nlines = 3',
        "cache: is missing, which the programs share",
    ),
    "nothing": ("", "is empty"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files(case: str) -> None:
    text, problem = WRONG[case]
    with pytest.raises(DfoptError) as caught:
        QUEUEING.parse(text)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_impossible_loads() -> None:
    with pytest.raises(DfoptError, match="load: must be at least 0 and less than 1, not 1"):
        queue_rows(QUEUEING.read("short-jobs"), [1.0])


def test_formulas_are_those_of_the_numbers() -> None:
    values = {formula.name: formula for formula in QUEUEING.formulas}
    for formula in values.values():
        assert formula.latex()
        assert formula.used
    given = {"S": 2.0, "C": 0.3, "rho": 0.7, "N": 5}
    waits = all_busy(5, 0.7)
    assert value_of(values["partition"], given) == pytest.approx(partition(2.0, 0.7))
    assert value_of(values["waiting"], given) == pytest.approx(waits)
    assert value_of(values["ideal"], given | {"P_w": waits}) == pytest.approx(ideal(2.0, 5, 0.7))
    assert value_of(values["reloads"], given) == pytest.approx(moving_service(2.0, 0.3, 5))
    found = [value_of(values[f"{name}-crossing"], given) for name in ("lower", "upper")]
    assert found == pytest.approx(two_cpu_crossings(2.0, 0.3))
    cache = SetCache(sets=4, ways=2, line_time=0.5)
    numbers = {"t": 0.5, "s": 4, "K": 2, "F": 3, "G": 4}
    assert added_up(values["no-affinity"], numbers) == pytest.approx(cache.penalty_no_affinity(3))
    assert added_up(values["affinity"], numbers) == pytest.approx(cache.penalty_affinity(3, 4))


def added_up(formula: Formula, numbers: dict[str, float]) -> float:
    """Return the value of a formula whose sums are to be added up term by term."""
    right = formula.build().rhs
    given = {symbol: numbers[symbol.name] for symbol in right.free_symbols}
    return float(right.subs(given).doit())


def test_the_picture_has_a_panel_a_machine() -> None:
    first = plot_queueing(QUEUEING.read("short-jobs"))
    panels = first.figure.axes
    assert len(panels) == 3
    circles = [line for line in first.lines if line.get_marker() == "o"]
    loads = [line.get_xdata()[0] for line in circles]
    assert loads == pytest.approx([0.102, 0.807], abs=0.001)
