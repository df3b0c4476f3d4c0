"""Any file can be read, or is refused with a DfoptError and no other error."""

import json
import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dfopt.errors import DfoptError, DfoptWarning
from dfopt.files import (
    instance_from_document,
    instance_to_document,
    read_instance,
    read_result,
    result_from_document,
    result_to_document,
)
from tests.result_strategies import results
from tests.strategies import instances, json_values

READERS = {
    "instance": (read_instance, instance_from_document),
    "result": (read_result, result_from_document),
}
TEXTS = {
    "instance": instances(adorned=True, max_tasks=3).map(instance_to_document).map(json.dumps),
    "result": results().map(result_to_document).map(json.dumps),
}
both = pytest.mark.parametrize("name", READERS)

# Pieces of text that JSON parsers and their users stumble over.
SPLINTERS = [
    '"', "{", "}", "[", "]", ",", ":", "\\", "\\u", "\\ud800", "\0", "\n", "\u2028", "\ufeff",
    "NaN", "-Infinity", "1e999", "-0", "0.0", "4.0", "null", "true", "9" * 5000, "x-", '"x-a":',
    '"tasks":', '"format":', "[" * 5000, '{"a":' * 5000, "/*", "'",
]  # fmt: skip


def assert_harmless(read, given):
    """Check that reading succeeds, or fails as it should."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DfoptWarning)
        try:
            read(given)
        except DfoptError as error:
            line = str(error)
            assert line
            assert len(line.splitlines()) == 1
            line.encode("utf-8")  # can be printed
            assert len(line) < 1000


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "any.json"


@both
@given(content=st.binary(max_size=200))
@example(content=b"\xef\xbb\xbf{}")
@example(content=b"\x1f\x8b\x08\0")
@example(content=b'{"format": "dfopt-instance/1", "\xff": 1}')
def test_any_bytes(path, name, content):
    for file in (path, path.with_suffix(".gz")):
        file.write_bytes(content)
        assert_harmless(READERS[name][0], file)


@both
@given(value=json_values)
def test_any_json(path, name, value):
    path.write_text(json.dumps(value))
    assert_harmless(READERS[name][0], path)
    assert_harmless(READERS[name][1], value)
    assert_harmless(READERS[name][1], {"format": f"dfopt-{name}/1", "x-any": value})


@pytest.mark.slow
@both
@given(data=st.data())
def test_any_values_under_the_right_keys(name, data):
    keys = json.loads(data.draw(TEXTS[name])).keys() - {"format"}
    values = {key: data.draw(json_values) for key in keys}
    assert_harmless(READERS[name][1], {"format": f"dfopt-{name}/1"} | values)


@pytest.mark.slow
@both
@given(data=st.data())
def test_splinters_in_good_files(path, name, data):
    text = data.draw(TEXTS[name])
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 10, len(text))))
        text = (
            text[:start] + data.draw(st.sampled_from(SPLINTERS) | st.text(max_size=2)) + text[end:]
        )
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert_harmless(READERS[name][0], path)


@pytest.mark.slow
@both
@given(data=st.data())
def test_pieces_of_good_files_put_twice(path, name, data):
    text = data.draw(TEXTS[name])
    pieces = text.split(", ")
    position = data.draw(st.integers(0, len(pieces) - 1))
    twice = pieces[: position + 1] + pieces[position:]
    path.write_text(", ".join(twice))
    assert_harmless(READERS[name][0], path)
