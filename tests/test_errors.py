"""Errors: one line each, wherever they come from."""

import pickle

from dfopt.errors import FileError, InstanceError


def test_an_error_is_one_line_with_file_and_place() -> None:
    error = InstanceError("is 0,\nat least 1 is due", place="cpus").within("instance")
    assert str(error.in_file("a.json")) == "a.json: instance.cpus: is 0, at least 1 is due"


def test_an_error_survives_the_way_between_processes() -> None:
    error = FileError("is empty", place="line 1", file="a.txt")
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is FileError
    assert (arrived.problem, arrived.place, arrived.file) == ("is empty", "line 1", "a.txt")
