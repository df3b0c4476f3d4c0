"""What Vaswani and Zahorjan published about mix #5 and the homogeneous mixes."""

from dataclasses import dataclass

TABLE_3_POLICIES = ("dynamic", "dyn-aff", "dyn-aff-delay")
TITLES = {
    "equipartition": "Equipartition",
    "dynamic": "Dynamic",
    "dyn-aff": "Dyn-Aff",
    "dyn-aff-nopri": "Dyn-Aff-NoPri",
    "dyn-aff-delay": "Dyn-Aff-Delay",
}


@dataclass(frozen=True, kw_only=True)
class Published:
    """A column of Table 3: times in seconds, affinity as a fraction."""

    affinity: float
    reallocations: int
    interval: float
    response_time: float

    @property
    def allocation(self) -> float:
        """Average number of processors: processor-seconds over seconds."""
        return self.interval * self.reallocations / self.response_time


def column(affinity: int, reallocations: int, interval: int, response_time: float) -> Published:
    """Return a column from the numbers as they are printed: %, count, ms, s."""
    return Published(
        affinity=affinity / 100,
        reallocations=reallocations,
        interval=interval / 1000,
        response_time=response_time,
    )


TABLE_3 = {
    ("dynamic", "MATRIX"): column(21, 2469, 293, 87.5),
    ("dynamic", "GRAVITY"): column(31, 1745, 222, 51.4),
    ("dyn-aff", "MATRIX"): column(83, 2409, 300, 87.0),
    ("dyn-aff", "GRAVITY"): column(54, 1780, 218, 51.5),
    ("dyn-aff-delay", "MATRIX"): column(86, 1611, 445, 86.3),
    ("dyn-aff-delay", "GRAVITY"): column(59, 1139, 340, 51.4),
}

TABLE_4 = {
    ("mix-1", "dyn-aff"): 20.22,
    ("mix-1", "dyn-aff-nopri"): 20.13,
    ("mix-4", "dyn-aff"): 50.07,
    ("mix-4", "dyn-aff-nopri"): 53.07,
}
"""Response times in seconds."""
