"""Parameter files that come with the package, and those of users."""

import re

import pytest

from dfopt.errors import FileError
from dfopt.files.formats import Format
from dfopt_models.model import Sourced, parameter_name, parameter_text, shipped_parameters


def test_files_are_told_by_their_format():
    assert "mix-5" in shipped_parameters(Format.RESPONSE_MODEL)
    assert shipped_parameters(Format.INSTANCE) == ()


def test_a_file_comes_before_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "Vaswani" in parameter_text("mix-5", Format.RESPONSE_MODEL)
    (tmp_path / "mix-5").write_text("own")
    assert parameter_text("mix-5", Format.RESPONSE_MODEL) == "own"


def test_a_name_that_is_neither():
    with pytest.raises(FileError, match=r"mix-5.*did you mean 'mix-5'\?"):
        parameter_text("mix5", Format.RESPONSE_MODEL)
    with pytest.raises(FileError, match=re.escape("absent.toml")):
        parameter_text("absent.toml", Format.INSTANCE)


def test_names_of_models():
    assert parameter_name("-") == "model"
    assert parameter_name("some/lab.toml.gz") == "lab"
    assert parameter_name("mix-5") == "mix-5"


def test_assumptions_are_told_by_their_source():
    sources = {"half": "assumed: half of the processors", "all": "paper: Table 3; assumed nowhere"}
    assert Sourced(sources=sources).assumed == ("half",)
