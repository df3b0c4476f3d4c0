"""Instances and results of them, read from the files that the command line names."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from dfopt.errors import DfoptWarning, FileError
from dfopt.files import fingerprint, read_instance, read_result
from dfopt.problem.instance import Instance
from dfopt.problem.schedule import Schedule
from dfopt_cli.failures import naming


def read_instance_and_warn(file: str) -> Instance:
    """Return the instance in a file; warn where it has no tasks.

    Raises
    ------
    FileError, InstanceError
        When the file is not a valid instance.
    """
    instance = read_instance(file)
    if not instance.tasks:
        warnings.warn(
            "there are no tasks to schedule; add some under 'tasks'", DfoptWarning, stacklevel=2
        )
    return instance


@dataclass(frozen=True, slots=True)
class Solved:
    """An instance, the schedule of one of its results, and the method that found it."""

    instance: Instance
    schedule: Schedule
    method: str | None


def read_solved(instance_file: str, result_file: str) -> Solved:
    """Return an instance and the schedule that a result has for it.

    Raises
    ------
    FileError
        When the result belongs to another instance, or has no schedule.
    """
    with naming(instance_file):
        instance = read_instance(instance_file)
    with naming(result_file):
        result = read_result(result_file)
        if result.instance_sha256 != fingerprint(instance):
            raise FileError(
                f"belongs to another instance, {result.instance_name or 'without a name'}; "
                "name the instance it was solved from",
                place="instance.sha256",
            )
        if result.schedule is None:
            raise FileError(
                f"is null: this result is {result.status}, there is nothing to show",
                place="schedule",
            )
    return Solved(instance, result.schedule, result.method)
