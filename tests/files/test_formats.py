"""The list of formats agrees with the schemas and with the documents that are written."""

import json
from importlib import resources

import pytest

from dfopt.errors import FileError
from dfopt.files import schema
from dfopt.files.formats import Format, check_format

WITHOUT_SCHEMA = {Format.INSTANCE_INDEX}


def test_every_schema_is_that_of_a_format() -> None:
    folder = resources.files("dfopt.files") / "schemas"
    names = {file.name.removesuffix(".schema.json") for file in folder.iterdir()}
    short = {format_.removeprefix("dfopt-").removesuffix("/1") for format_ in Format}
    without = {format_.removeprefix("dfopt-").removesuffix("/1") for format_ in WITHOUT_SCHEMA}
    assert names == short - without


@pytest.mark.parametrize("expected", sorted(set(Format) - WITHOUT_SCHEMA))
def test_a_schema_names_its_format(expected: Format) -> None:
    assert str(expected) in json.dumps(schema(expected))


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({}, "is missing; a mix of jobs has 'dfopt-mix/1' here"),
        (
            {"format": "dfopt-scenario/1"},
            "the file holds a scenario (dfopt-scenario/1); a mix of jobs is due here",
        ),
        ({"format": "dfopt-mix/2"}, "must be 'dfopt-mix/1', not 'dfopt-mix/2'"),
        ({"format": ["dfopt-mix/1"]}, "must be 'dfopt-mix/1', not an array"),
    ],
)
def test_another_format_is_refused(document: dict[str, object], problem: str) -> None:
    with pytest.raises(FileError) as caught:
        check_format(document, Format.MIX)
    assert (caught.value.place, caught.value.problem) == ("format", problem)


def test_a_format_is_written_as_its_name() -> None:
    assert json.dumps({"format": Format.TRACE}) == '{"format": "dfopt-trace/1"}'
    assert f"{Format.TRACE}" == "dfopt-trace/1"
