"""Instances that no method closes at once."""

from dfopt import replace
from dfopt.generate import matrix, tight, zipf
from dfopt.problem.instance import Objective
from dfopt.problem.penalties import PenaltyG

HARD = zipf(tasks=120, cpus=16, fragments=48, seed=3)
"""Not proven optimal within seconds."""
HARD_TABLE = matrix(tasks=40, cpus=4, types=12, seed=3)
UNTIMED = zipf(tasks=24, cpus=3, fragments=6, seed=3, objective=Objective.MAKESPAN)
HARD_TIMED = replace(
    UNTIMED,
    tasks=tuple(
        replace(task, exec=5 + number % 7, after=(f"t{number // 2}",) if number % 3 == 2 else ())
        for number, task in enumerate(UNTIMED.tasks)
    ),
)
HARD_PARTS = tight(
    cpus=32, per_cpu=25, fragments=120, seed=1, penalty=PenaltyG(fill=40, write_back=20)
)
HARD_ONES = {"f": HARD, "matrix": HARD_TABLE, "timed": HARD_TIMED, "g": HARD_PARTS}
