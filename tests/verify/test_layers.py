"""The repeated search through schedules of tasks that wait, beyond what its solver is tested on."""

import pytest

from dfopt.errors import MethodError
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF, PenaltyG
from dfopt.verify.enumeration import has_schedule_below


def test_times_of_all_cpus_together_do_not_exceed_64_bits() -> None:
    late = Instance(
        cpus=8,
        penalty=PenaltyG(fill=3, write_back=1),
        objective=Objective.MAKESPAN,
        tasks=(
            Task(id="a", df="A", exec=5, release=2**61),
            Task(id="b", df="B", exec=5, after=("a",)),
            Task(id="c", df="C", exec=7),
        ),
    )
    expensive = Instance(
        cpus=8,
        penalty=PenaltyF(read_line=1, write_back=0),
        objective=Objective.MAKESPAN,
        tasks=(
            Task(id="a", df="A", lines=2**61, exec=5),
            Task(id="b", df="B", lines=1, exec=5, after=("a",)),
            Task(id="c", df="C", lines=1, exec=7),
        ),
    )
    for instance, end in ((late, 2**61 + 10), (expensive, 10)):
        with pytest.raises(MethodError, match="64 bits"):
            has_schedule_below(instance, end + 1)
