"""The reference of scenarios lists what there is: the page is made from the docstrings."""

import inspect
import json
import re
import tomllib
from pathlib import Path

import pytest

from dfopt.simulate.parameters import parameters_of
from dfopt.simulate.policies import POLICIES
from dfopt.simulate.scenario_document import KEYS, shipped_scenarios
from dfopt.simulate.workloads import WORKLOADS

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "scenario.md"


@pytest.mark.parametrize("kind", [*WORKLOADS.values(), *POLICIES.values()], ids=lambda k: k.name)
def test_every_parameter_is_documented(kind):
    # Since Python 3.13 docstrings have no margin of their own.
    sections = [inspect.cleandoc(base.__doc__ or "") for base in kind.__mro__[:-1]]
    documented: set[str] = set()
    for text in sections:
        for names in re.findall(r"^(\w[\w, ]*)$", text, re.MULTILINE):
            documented |= set(names.split(", "))
    assert set(parameters_of(kind)) <= documented
    assert kind.__doc__


@pytest.mark.parametrize("policy", POLICIES.values(), ids=lambda policy: policy.name)
def test_the_table_has_the_defaults(policy):
    (row,) = re.findall(
        rf"^\|(?: `[\w-]+`,)* `{policy.name}`(?:, `[\w-]+`)* \| (.*) \|$",
        REFERENCE.read_text("utf-8").partition("### Defaults")[2],
        re.MULTILINE,
    )
    shown = tomllib.loads("\n".join(re.findall("`(.*?)`", row)))
    defaults = {name: found.default for name, found in parameters_of(policy).items()}
    plain = {name: dict(value) if name == "sets" else value for name, value in defaults.items()}
    assert json.loads(json.dumps(plain)) == shown


def test_every_key_is_on_the_page():
    text = REFERENCE.read_text("utf-8")
    for key in KEYS:
        shown = "policy.NAME" if key == "policy" else key
        assert re.search(rf"`{shown}`", text), key
    for name in shipped_scenarios():
        assert f"`{name}`" in text
