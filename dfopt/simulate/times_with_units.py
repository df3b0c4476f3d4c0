"""Times with units, such as ``30s``, where a scenario has numbers."""

from __future__ import annotations

import re
from decimal import Decimal

from dfopt.errors import FileError
from dfopt.time_units import NANOSECONDS

TIME_WITH_UNIT = re.compile(rf"(?P<number>\d+(\.\d+)?)\s*(?P<unit>{'|'.join(NANOSECONDS)})")

TIME_WORDS = frozenset(
    ("average", "cost", "epoch", "granularity", "interval", "latency", "limit", "patience",
     "slice", "time", "until")
)  # fmt: skip
"""Parameters of policies, machines and workloads with one of these words in their names are times.

All others are counts, shares and the like.
"""


def is_time_with_unit(key: str, value: object) -> bool:
    """Return whether a value is a time with a unit, and the key one of a time."""
    *_, name = key.split(".")
    return (
        isinstance(value, str)
        and TIME_WITH_UNIT.fullmatch(value) is not None
        and not TIME_WORDS.isdisjoint(name.split("_"))
    )


def time_in(unit: str, text: str) -> int:
    """Return a time with a unit, such as ``30s``, in the unit of a scenario.

    Raises
    ------
    FileError
        When this unit cannot express it.
    """
    found = TIME_WITH_UNIT.fullmatch(text)
    assert found is not None
    if unit not in NANOSECONDS:
        raise FileError(
            f"{text} means nothing in a scenario whose times are in {unit!r}; give a number in "
            "this unit"
        )
    time = Decimal(found["number"]) * NANOSECONDS[found["unit"]] / NANOSECONDS[unit]
    if time != time.to_integral_value():
        raise FileError(
            f"{text} cannot be said in a scenario whose times are whole {unit}; give a multiple of "
            f"1{unit}"
        )
    return int(time)
