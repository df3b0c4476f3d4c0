"""``dfopt schema``."""

import json

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize("name", ["instance", "result"])
def test_schema_is_printed(run: Run, name: str) -> None:
    code, out, err = run("schema", name)
    assert (code, err) == (0, "")
    assert json.loads(out)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_unknown_names_get_the_known_ones(run: Run) -> None:
    code, out, err = run("schema", "instanse")
    assert (code, out) == (1, "")
    assert "did you mean 'instance'?" in err
    assert err.count("\n") == 1
