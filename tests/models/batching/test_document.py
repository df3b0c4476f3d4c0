"""Files of batching models: what they hold, and what is wrong with them."""

import json
import tomllib
from importlib import resources

import jsonschema
import pytest

from dfopt import replace
from dfopt.errors import DfoptError
from dfopt.files import schema
from dfopt_models.batching import BATCHING, batching_result, share_read
from tests.formulas import value_of

TEXT = (resources.files("dfopt_models") / "parameters" / "debattista.toml").read_text()


def test_the_shipped_file():
    assert BATCHING.shipped() == ("debattista",)
    jsonschema.validate(tomllib.loads(TEXT), schema("batching-model"))
    model = BATCHING.read("debattista")
    assert model.assumed == (
        "own_lines", "switch", "increment", "miss", "next_line", "creation", "batch_switch",
    )  # fmt: skip
    assert model.sources.keys() >= {"cache_lines", "array_size", "max_batch_size"}
    document = BATCHING.results.to_document(batching_result(model, granularity=8))
    jsonschema.validate(json.loads(json.dumps(document)), schema("batching"))


def test_what_may_be_left_out():
    model = BATCHING.parse(TEXT.replace("batch_switch = 0\n", ""), name="mine")
    assert model.batch_switch == 0
    assert BATCHING.parse(TEXT.replace('name = "', 'x-name = "'), name="mine").name == "mine"


WRONG = {
    "another format": ("batching-model/1", "mix/1", "the file holds a mix of jobs"),
    "a misspelt key": ("\nmiss =", "\nmisses =", "misses: unknown key; did you mean 'miss'?"),
    "a missing key": ("\nmiss = 100", "", "miss: is missing"),
    "a text": ("miss = 100", 'miss = "100"', "miss: must be a number, not '100'"),
    "a fraction": ("= 16_384", "= 0.5", "cache_lines: must be an integer"),
    "no cache": ("= 16_384", "= 0", "cache_lines: must be at least 1, not 0"),
    "a negative time": ("miss = 100", "miss = -1", "miss: must be at least 0, not -1"),
    "no number": ("miss = 100", "miss = nan", "miss: must be finite and at most 2^62, not nan"),
    "a free switch": ("switch = 120", "switch = 0", "switch: must be more than 0"),
    "no lengths": ("[1, 2, 4, 16, 128]", "[]", "lengths: has 0 entries; at least 1 are needed"),
    "no list": ("[1, 2, 4, 16, 128]", "4", "lengths: must be an array"),
    "a large thread": ("[1, 8, 64, 128]", "[262145]", "granularities: must be at most array_size"),
    "a table as source": ("[x-source]", "[x-source.miss]\n", "x-source.miss: must be a string"),
    "twice": ("miss = 100", "miss = 100\nmiss = 100", "this key is there more than once"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files(case):
    old, new, problem = WRONG[case]
    assert old in TEXT
    with pytest.raises(DfoptError) as caught:
        BATCHING.parse(TEXT.replace(old, new, 1))
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_values_are_checked():
    model = BATCHING.read("debattista")
    with pytest.raises(DfoptError, match="miss: must be at least 0, not -3"):
        replace(model, miss=-3)


def test_formulas_are_those_of_the_numbers():
    model = replace(BATCHING.read("debattista"), batch_switch=256)
    formulas = {formula.name: formula for formula in BATCHING.formulas}
    numbers = {"t_cs": 120, "t_batch": 256, "K": 128, "G": 8, "t_i": 4, "t_create": 600, "PL": 16}
    switch = value_of(formulas["switching"], numbers)
    computing = value_of(formulas["computing"], numbers | {"t_s": switch})
    assert computing == model.computing(8, 16, batches=True)
    reading = value_of(formulas["reading"], {"s": 2, "t_m": 100, "G": 8, "i": 8, "t_seq": 0})
    assert reading == model.reading(8)
    plain = BATCHING.read("debattista")
    gain = value_of(formulas["gain"], {"b": plain.computing(8, 16), "m": reading, "r": 4})
    assert gain == pytest.approx(plain.gain(8, 16))
    for batch, count, length in ((32, 128, 128), (32, 128, 5), (7, 8, 7), (9, 4, 3), (3, 40, 2)):
        share = value_of(formulas["share-read"], {"B": batch, "K": count, "PL": length})
        assert share == pytest.approx(share_read(batch, count, length))
    assert all(formula.text() and formula.latex() and formula.used for formula in BATCHING.formulas)
