"""Parameters as a constructor's signature has them, and values that are not what it asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import pytest

from dfopt.errors import DfoptError
from dfopt.simulate.parameters import REQUIRED, made, parameters_of


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    rooms: int
    share: float = 0.5
    is_cold: bool = False
    name: str = "x"
    colour: Colour = Colour.RED
    mode: Literal["fast", "slow"] = "fast"
    limit: int | None = None
    sizes: tuple[int, ...] = ()
    pair: tuple[int, float] = (1, 2.0)
    weights: Mapping[str, float] | None = None


class Bare:
    def __init__(self, time_slice=5, *, other=None) -> None:
        self.time_slice, self.other = time_slice, other


class Nothing:
    pass


class Derived(Bare):
    def __init__(self, *, depth: int = 2, **parameters) -> None:
        super().__init__(**parameters)
        self.depth = depth


class Closed(Bare):
    def __init__(self, *, depth: int = 2) -> None:
        super().__init__()
        self.depth = depth


class Grandchild(Derived):
    pass


def test_what_a_constructor_says_of_itself():
    known = parameters_of(Everything)
    assert list(known) == [
        "rooms", "share", "is_cold", "name", "colour", "mode", "limit", "sizes", "pair", "weights",
    ]  # fmt: skip
    assert known["rooms"].default is REQUIRED
    assert (known["share"].annotation, known["share"].default) == (float, 0.5)
    assert parameters_of(Bare)["time_slice"].annotation is int
    assert parameters_of(Nothing) == {}


def test_what_a_constructor_hands_to_its_base():
    assert list(parameters_of(Derived)) == ["depth", "time_slice", "other"]
    assert list(parameters_of(Grandchild)) == ["depth", "time_slice", "other"]
    assert list(parameters_of(Closed)) == ["depth"]
    assert made(Derived, {"time_slice": 7}).time_slice == 7
    with pytest.raises(DfoptError, match="unknown key; did you mean 'time_slice'"):
        made(Derived, {"time_slices": 7})


def test_values_of_the_right_types():
    values = {
        "rooms": 3, "share": 1, "is_cold": True, "colour": "red", "mode": "slow", "limit": 4,
        "sizes": [1, 2], "pair": [7, 0.5], "weights": {"a": 2}, "x-mine": "ignored",
    }  # fmt: skip
    assert made(Everything, values) == Everything(
        rooms=3, share=1, is_cold=True, mode="slow", limit=4, sizes=(1, 2), pair=(7, 0.5),
        weights={"a": 2},
    )  # fmt: skip
    assert made(Bare, {"other": [1]}).other == [1]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rooms": 1, "shar": 1}, "shar: unknown key; did you mean 'share'?"),
        ({"rooms": 1, "zzzzzz": 1}, "zzzzzz: unknown key; known are rooms, share"),
        ({}, "rooms: is missing"),
        ({"rooms": "3"}, "rooms: must be an integer, not '3'"),
        ({"rooms": True}, "rooms: must be an integer"),
        ({"rooms": 1, "share": "much"}, "share: must be a number"),
        ({"rooms": 1, "is_cold": 0}, "is_cold: must be true or false, not 0"),
        ({"rooms": 1, "name": 5}, "name: must be a string, not 5"),
        ({"rooms": 1, "colour": "blue"}, "colour: must be one of 'red'"),
        ({"rooms": 1, "mode": "dull"}, "mode: must be one of 'fast', 'slow'"),
        ({"rooms": 1, "limit": "no"}, "limit: must be an integer"),
        ({"rooms": 1, "sizes": [1, "b"]}, "sizes[1]: must be an integer"),
        ({"rooms": 1, "sizes": 1}, "sizes: must be an array"),
        ({"rooms": 1, "pair": [1]}, "pair: must be an array of 2 values"),
        ({"rooms": 1, "weights": {"a": "b"}}, "weights.a: must be a number"),
    ],
)
def test_values_that_are_wrong(values, message):
    with pytest.raises(DfoptError) as caught:
        made(Everything, values)
    assert str(caught.value).startswith(message)


def test_what_has_no_parameters_says_so():
    with pytest.raises(DfoptError, match="time_slice: is unknown; there are no parameters"):
        made(Nothing, {"time_slice": 5})


def test_what_a_constructor_has_to_say_is_passed_on():
    class Picky:
        def __init__(self, size: int = 1) -> None:
            raise ValueError(f"size {size} is odd")

    with pytest.raises(DfoptError, match=r"these parameters \(size 3 is odd\)"):
        made(Picky, {"size": 3})
