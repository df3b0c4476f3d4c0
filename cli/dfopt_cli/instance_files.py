"""Instances as commands read them: one without tasks is valid, but rarely what was meant."""

from __future__ import annotations

import warnings

from dfopt.errors import DfoptWarning
from dfopt.files import read_instance
from dfopt.problem.instance import Instance


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
