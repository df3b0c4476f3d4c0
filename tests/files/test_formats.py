"""The list of formats agrees with the schemas and with the documents that are written."""

import json
from importlib import resources
from pathlib import Path

import pytest

from dfopt.errors import FileError
from dfopt.files import schema
from dfopt.files.formats import Format, check_format, other_kind, parse_toml_of, read_json

WITHOUT_SCHEMA = {Format.INSTANCE_INDEX}


def test_every_schema_is_that_of_a_format() -> None:
    folder = resources.files("dfopt.files") / "schemas"
    names = {file.name.removesuffix(".schema.json") for file in folder.iterdir()}
    short = {format_.removeprefix("dfopt-").partition("/")[0] for format_ in Format}
    without = {format_.removeprefix("dfopt-").partition("/")[0] for format_ in WITHOUT_SCHEMA}
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
            "the file holds a scenario (dfopt-scenario/1), for 'dfopt simulate run-queue'; "
            "a mix of jobs is due here",
        ),
        ({"format": "dfopt-mix/2"}, "must be 'dfopt-mix/1', not 'dfopt-mix/2'"),
        ({"format": ["dfopt-mix/1"]}, "must be 'dfopt-mix/1', not an array"),
    ],
)
def test_another_format_is_refused(document: dict[str, object], problem: str) -> None:
    with pytest.raises(FileError) as caught:
        check_format(document, Format.MIX)
    assert (caught.value.place, caught.value.problem) == ("format", problem)


SWITCH = "a-1 [000] d..2. 1.000001: sched_switch: prev_comm=a ==> next_comm=b"


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ('name = "x"\nformat = "dfopt-mix/1"', Format.MIX),
        ('{"format": "dfopt-result/2"}', Format.RESULT),
        ('{"format": "dfopt-trace/1", "cpus": 1}\n{"cpu": 0}', Format.TRACE),
        ("# tracer: nop\na-1\n", Format.TRACE),
        (SWITCH, Format.TRACE),
        ('{"traceEvents": []}\n{', Format.TRACE),
    ],
)
def test_another_kind_of_file_is_told_by_its_name(text: str, given: Format, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        read_json(path, Format.INSTANCE)
    assert caught.value.problem == other_kind(given, Format.INSTANCE).problem
    with pytest.raises(FileError) as caught:
        parse_toml_of(text, Format.MACHINE)
    assert caught.value.problem == other_kind(given, Format.MACHINE).problem


@pytest.mark.parametrize("text", ["NAME: four\nTYPE: ATSP\n", "id,df\n1,2\n", "import numpy\n"])
def test_what_is_no_json_at_all_is_answered_with_what_makes_it(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(
        FileError, match="is not JSON; an instance is due here, as made by 'dfopt im"
    ):
        read_json(path, Format.INSTANCE)


def test_a_format_is_written_as_its_name() -> None:
    assert json.dumps({"format": Format.TRACE}) == '{"format": "dfopt-trace/1"}'
    assert f"{Format.TRACE}" == "dfopt-trace/1"
