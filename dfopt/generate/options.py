"""The parameters that the families of random instances share."""

from __future__ import annotations

from typing import Literal, TypedDict

from dfopt.checks import check_integer
from dfopt.errors import InstanceError
from dfopt.problem.instance import LARGEST_TASK_COUNT, Objective
from dfopt.problem.penalties import PenaltyF, PenaltyG


class MachineOptions(TypedDict, total=False):
    """Attributes of the :class:`~dfopt.problem.instance.Instance`, with the same defaults."""

    capacity: int | Literal["balanced", "unlimited"]
    objective: Objective
    cold_start: bool
    final_write_back: bool


class FragmentOptions(MachineOptions, total=False):
    """Parameters of the families with fragments, besides :class:`MachineOptions`.

    Parameters
    ----------
    penalty
        The switch penalty; default :data:`~dfopt.generate.fragments.DEFAULT_F`.
    lines
        Under f, the lines that a task reads are uniform on 1 … lines; default 40.
    leaves
        Under f, the probabilities that a task leaves its fragment clean, dirty, invalidated;
        default (0.5, 0.2, 0.3).
    exec
        Execution times are uniform on 1 … exec; default 0, which gives every task 0.
    size
        Sizes are uniform on 1 … size; default 1.
    """

    penalty: PenaltyF | PenaltyG
    lines: int
    leaves: tuple[float, float, float]
    exec: int
    size: int


def check_task_count(tasks: int, place: str = "tasks") -> None:
    """Refuse anything but 1 to :data:`~dfopt.problem.instance.LARGEST_TASK_COUNT` tasks."""
    check_integer(tasks, place, least=1)
    if tasks > LARGEST_TASK_COUNT:
        raise InstanceError(f"{tasks} are too many; at most {LARGEST_TASK_COUNT}", place=place)
