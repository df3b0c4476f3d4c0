"""What types of fields say of values: limits, and the place of what is wrong."""

from typing import Annotated

import pytest
from msgspec import Meta, field

from dfopt import Instance, Task
from dfopt.errors import DfoptError
from dfopt.structs import Checked
from dfopt.type_reader import reader


class Sample(Checked):
    """A value for each limit."""

    count: Annotated[int, Meta(ge=1, le=9)] = field(name="x-count", default=1)
    share: Annotated[float, Meta(ge=0)] = 0.5
    least: Annotated[float, Meta(ge=2.0**-40)] = 1.0
    places: Annotated[tuple[int, ...], Meta(min_length=1, max_length=2)] = (1,)


WRONG = {
    "x-count: must be at least 1, not 0": {"x-count": 0},
    "x-count: is 10; at most 9 are supported": {"x-count": 10},
    "share: must be at least 0, not -1": {"share": -1},
    "least: must be at least 2^-40, not 0": {"least": 0},
    "share: must be finite and at most 2^62, not nan": {"share": float("nan")},
    "share: must be finite and at most 2^62, not inf": {"share": float("inf")},
    "places: has 0 entries; at least 1 are needed": {"places": []},
    "places: has 3 entries; at most 2 are supported": {"places": [1, 2, 3]},
}


@pytest.mark.parametrize("problem", WRONG)
def test_values_beyond_their_limits(problem: str) -> None:
    values = WRONG[problem]
    with pytest.raises(DfoptError) as caught:
        reader(Sample)(values)
    assert str(caught.value) == problem
    with pytest.raises(DfoptError) as caught:
        Sample(**{name.removeprefix("x-"): value for name, value in values.items()})
    assert str(caught.value) == problem


def test_values_at_their_limits() -> None:
    given = {"x-count": 9, "share": 0, "places": [1, 2]}
    assert reader(Sample)(given) == Sample(count=9, share=0, places=(1, 2))


def test_a_part_of_another_kind_is_refused() -> None:
    with pytest.raises(DfoptError, match="penalty: must be an object"):
        Instance(cpus=1, penalty=Task(id="a"))  # type: ignore[arg-type]
