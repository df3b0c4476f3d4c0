"""Figures 2 and 3 of Pinter and Zalmanovici: five tasks, two fragments, two CPUs."""

from dfopt.problem.cache import Leaves
from dfopt.problem.instance import Instance, Objective, Task
from dfopt.problem.penalties import PenaltyF
from dfopt.problem.schedule import evaluate

INSTANCE = Instance(
    name="worked-example",
    cpus=2,
    objective=Objective.MAKESPAN,
    penalty=PenaltyF(read_line=1, write_back=4),
    cold_start=True,
    final_write_back=True,
    tasks=(
        Task(id="v0", df="DF1", lines=4, exec=1),
        *(
            Task(id=f"v{number}", df=df, lines=4, exec=1, leaves=Leaves.DIRTY, after=("v0",))
            for number, df in ((1, "DF2"), (2, "DF1"), (3, "DF1"), (4, "DF2"))
        ),
    ),
)

DATA_AFFINITY = evaluate(INSTANCE, [["v0", "v2", "v3"], ["v1", "v4"]])
"""Its best schedule, which takes 15."""
