"""Files of contention models: what they hold, and what is wrong with them."""

import json
import tomllib
from importlib import resources

import jsonschema
import pytest

from dfopt import replace
from dfopt.errors import DfoptError
from dfopt.files import schema
from dfopt_models.contention import CONTENTION, contention_result
from dfopt_models.locks import Holds, looks, over_locks, residence_constant, wait_with_priority
from tests.formulas import value_of

OWN = """
format = "dfopt-contention-model/1"
cpus = [1, 8]
[lock]
hold = 2e-6
think = 5e-5
holds = "constant"
"""


def document_of(model):
    return CONTENTION.results.to_document(contention_result(model))


def test_a_file_of_ones_own():
    model = CONTENTION.parse(OWN, name="server")
    assert (model.name, model.lock.holds, model.think) == ("server", Holds.CONSTANT, 5e-5)
    document = json.loads(json.dumps(document_of(model)))
    jsonschema.validate(document, schema("contention"))
    assert [row["cpus"] for row in document["contention"]] == [1, 8]
    assert document["knee"] == pytest.approx(26)


def test_the_shipped_file():
    assert CONTENTION.shipped() == ("sohn-kim",)
    text = (resources.files("dfopt_models") / "parameters" / "sohn-kim.toml").read_text()
    jsonschema.validate(tomllib.loads(text), schema("contention-model"))
    model = CONTENTION.read("sohn-kim")
    jsonschema.validate(json.loads(json.dumps(document_of(model))), schema("contention"))
    for table in (model.lock, model.buffers, model.scans, model.third_band):
        values = [
            name
            for name in ("hold", "holds", "each", "used", "chances", "first", "rest", "cpus")
            if getattr(table, name, None) not in (None, (20, 30))
        ]
        assert {name for name in values if name != "hold" or table.hold} <= table.sources.keys()


WRONG = {
    "no format": (OWN.replace("format", "x-format"), "format: is missing"),
    "another format": (OWN.replace("contention-model", "mix"), "the file holds a mix of jobs"),
    "a misspelt key": (OWN.replace("think", "thinks"), "lock.thinks: unknown key; did you mean"),
    "no lock": ('format = "dfopt-contention-model/1"\ncpus = [2]', "lock: is missing"),
    "no time": (OWN.replace("think = 5e-5", ""), "lock: think and fitted are both missing"),
    "two times": (
        f"{OWN}fitted = {{ misses = 0.9, cpus = 10 }}",
        "lock: think and fitted are both there",
    ),
    "a negative time": (
        OWN.replace("5e-5", "-1"),
        "lock.think: must be at least 2^-62, not -1",
    ),
    "not a number": (
        OWN.replace("5e-5", "nan"),
        "lock.think: must be finite and at most 2^62, not nan",
    ),
    "a text": (OWN.replace("5e-5", '"5"'), "lock.think: must be a number, not '5'"),
    "too long a time": (
        OWN.replace("5e-5", "1e30"),
        "lock.think: must be finite and at most 2^62, not 1e+30",
    ),
    "a look without end": (
        f"{OWN}[scans]\nlook = inf\nchances = [0.5]",
        "scans.look: must be finite and at most 2^62, not inf",
    ),
    "a measurement that is no number": (
        f'{OWN}[[published]]\nwhat = "misses"\nvalue = nan\ncpus = 4',
        "published[0].value: must be finite and at most 2^62, not nan",
    ),
    "a share beyond 1": (f"spreads = [1, 2]\n{OWN}", "spreads[1]: must be at most 1, not 2"),
    "falling CPUs": (OWN.replace("[1, 8]", "[8, 1]"), "cpus: must rise"),
    "no CPUs": (OWN.replace("[1, 8]", "[]"), "cpus: has 0 entries; at least 1 are needed"),
    "too many CPUs": (OWN.replace("8]", "8000]"), "cpus[1]: is 8000; at most 1000 are supported"),
    "another word": (OWN.replace('"constant"', '"fixed"'), "lock.holds: must be one of"),
    "misses of one CPU": (
        OWN.replace("think = 5e-5", "fitted = { misses = 0.9, cpus = 1 }"),
        "lock.fitted: misses must be between 0 and 1, of at least two CPUs",
    ),
    "half a fit": (
        OWN.replace("think = 5e-5", "fitted = { misses = 0.9 }"),
        "lock.fitted.cpus: is missing",
    ),
    "buffers by halves": (
        f"{OWN}[buffers]\nhold = 1\neach = 3",
        "buffers: each and used belong together",
    ),
    "a slope out of reach": (
        f"{OWN}[buffers]\nfitted = {{ slope = 1.5 }}",
        "buffers.fitted: no parameter gives 1.5",
    ),
    "falling chances": (
        f"{OWN}[scans]\nlook = 0.01\nchances = [0.5, 0.1]",
        "scans.chances[1]: must be from 0.5 to 1",
    ),
    "an impossible load": (
        f"{OWN}[third_band]\ncpus = 4\nfirst = 0.5\nrest = 1\nload = 1.5",
        "third_band: load must be between 0 and 1",
    ),
    "an impossible ratio": (
        f"{OWN}[third_band]\ncpus = 4\nfirst = 0.5\nrest = 1\nfitted = {{ ratio = 1.5 }}",
        "third_band.fitted: no parameter gives 1.5",
    ),
    "a measurement without its part": (
        f'{OWN}[[published]]\nwhat = "third-scan"\nvalue = 1.03\ncpus = 4',
        "published[0].what: needs the table [scans]",
    ),
    "a measurement of how many": (
        f'{OWN}[[published]]\nwhat = "misses"\nvalue = 0.9',
        "published[0].cpus: is missing",
    ),
    "an unknown measurement": (
        f'{OWN}[[published]]\nwhat = "hits"\nvalue = 0.9',
        "published[0].what: must be one of",
    ),
    "JSON": ("{}", "this looks like JSON"),
    "nothing": ("", "is empty"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files(case):
    text, problem = WRONG[case]
    with pytest.raises(DfoptError) as caught:
        CONTENTION.parse(text)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_slope_needs_two_machines():
    model = CONTENTION.read("sohn-kim")
    with pytest.raises(DfoptError, match="at least two numbers of CPUs"):
        replace(model, cpus=(10,))


def test_formulas_are_those_of_the_numbers():
    values = {formula.name: formula for formula in CONTENTION.formulas}
    assert len(values) == len(CONTENTION.formulas)
    for formula in CONTENTION.formulas:
        assert formula.text()
        assert formula.latex()
        assert formula.used
    first = value_of(
        values["own-lock-first"], {"q": 0.3, "N": 5, "n": 2, "y_counted": 1.5, "y_free": 1.2}
    )
    assert first == pytest.approx(over_locks(0.3, 5, 2, 1.5, 1.2))
    looked = value_of(values["looks"], {"rho_b": 0.3, "N": 4})
    assert looked == pytest.approx(looks(0.3, 4))
    constant = value_of(values["residence-constant"], {"S": 2, "Q": 1.5, "U": 0.5})
    assert constant == pytest.approx(residence_constant(2, 1.5, 0.5))
    band = value_of(values["wait-first-band"], {"W": 2, "rho": 0.6, "f": 0.5})
    assert band == pytest.approx(wait_with_priority(2, 0.6, 0.5))
