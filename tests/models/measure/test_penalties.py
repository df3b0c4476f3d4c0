"""Files of penalties."""

import tomllib

import pytest
import tomli_w
from jsonschema import Draft202012Validator

from dfopt.errors import DfoptError
from dfopt.files import schema
from dfopt_models.measure import PENALTIES, penalties_document

TOP = 'format = "dfopt-penalties/1"\nreallocation_time = 0.001\n'
JOB = (
    '[[job]]\nname = "*"\n'
    "penalties = [{ quantum = 0.1, affinity = 0.01, no_affinity = 0.02 },\n"
    "             { quantum = 0.4, affinity = 0.03, no_affinity = 0.04 }]\n"
)


def test_a_file_goes_through_a_text_and_back() -> None:
    penalties = PENALTIES.from_toml(TOP + JOB + '[x-source]\npenalties = "assumed"\n')
    Draft202012Validator(schema("penalties")).validate(tomllib.loads(TOP + JOB))
    text = tomli_w.dumps(penalties_document(penalties))
    Draft202012Validator(schema("penalties")).validate(tomllib.loads(text))
    assert PENALTIES.from_toml(text) == penalties


def test_costs() -> None:
    penalties = PENALTIES.from_toml(TOP + JOB)
    assert penalties.cost("any", 0.1, affinity=True) == pytest.approx(0.011)
    assert penalties.cost("any", 0.4, affinity=False) == pytest.approx(0.041)
    # Between two quanta, linear in the logarithm of the interval.
    assert penalties.cost("any", 0.2, affinity=True) == pytest.approx(0.021)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("reallocation_time = 1\n" + JOB, "format: is missing"),
        (TOP, "job: is missing"),
        (TOP + "job = []", "job: is empty; give at least one table"),
        (TOP.replace("0.001", "-1") + JOB, "reallocation_time: must be at least 0"),
        (TOP.replace("0.001", '"x"') + JOB, "reallocation_time: must be a number"),
        (TOP + JOB + JOB, r"job\[1\].name: '\*' is there twice"),
        (TOP + JOB.replace("0.4", "0.1"), r"job\[0\].penalties\[1\].quantum: is 0.1, not more"),
        (TOP + JOB.replace("no_affinity = 0.02", "none = 1"), r"none: unknown key"),
        (TOP + JOB.replace("0.03", "-0.03"), r"penalties\[1\].affinity: must be at least 0"),
        (TOP + JOB.replace('"*"', '""'), r"job\[0\].name: is empty"),
        (TOP + JOB + "x =", "line 7: the document ends too early"),
    ],
)
def test_wrong_files(text: str, problem: str) -> None:
    with pytest.raises(DfoptError, match=problem) as caught:
        PENALTIES.from_toml(text)
    assert "\n" not in str(caught.value)
