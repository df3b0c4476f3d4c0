"""The numbers that workloads take."""

import pytest

from dfopt.errors import InstanceError
from dfopt.simulate.parameters import parameters_of
from dfopt.simulate.workload import MOST
from dfopt.simulate.workloads import WORKLOADS

NUMBERS = [
    (kind, name)
    for kind in WORKLOADS.values()
    for name, parameter in parameters_of(kind).items()
    if type(parameter.default) is int
]
LEAST = {
    ("chat", "users"): 2,
    ("web-server", "http_slices"): 3,
    **dict.fromkeys(
        [
            *(("aim", f"share_{sort}") for sort in ("cswitch", "fexec", "read", "compute")),
            *(("aim", name) for name in ("buffers", "hit_percent", "lines", "text_blocks")),
            *(
                ("chat", name)
                for name in ("burst_lines", "message_size", "socket_messages", "user_lines")
            ),
            ("custom", "fragment_lines"),
            ("fine-grained", "stack_lines"),
            ("fine-grained", "creation_time"),
            ("hackbench", "data_size"),
            ("web-server", "long_php"),
        ],
        0,
    ),
}


def test_what_is_known_of_numbers_is_of_numbers_there_are():
    assert len(NUMBERS) > 50
    assert LEAST.keys() <= {(kind.name, name) for kind, name in NUMBERS}


@pytest.mark.parametrize(
    ("kind", "name"), NUMBERS, ids=[f"{kind.name}-{name}" for kind, name in NUMBERS]
)
def test_numbers_are_integers_and_not_too_small(kind, name):
    least = LEAST.get((kind.name, name), 1)
    assert getattr(kind(**{name: least}), name) == least
    for wrong in (least - 1, 1.5, True, 2**62 + 1):
        with pytest.raises(InstanceError) as error:
            kind(**{name: wrong})
        assert error.value.place == name


@pytest.mark.parametrize(
    ("kind", "name", "each"),
    [
        *[("aim", "users", 1), ("aim", "files", 1), ("aim", "disks", 1)],
        *[("chat", "rooms", 80), ("custom", "threads", 1), ("custom", "fragments", 1)],
        *[("fine-grained", "array_size", 1), ("hackbench", "groups", 40)],
        *[("web-server", name, 1) for name in ("clients", "php_threads", "disks")],
    ],
)
def test_no_more_threads_than_fit_into_memory(kind, name, each):
    most = MOST // each
    assert getattr(WORKLOADS[kind](**{name: most}), name) == most
    with pytest.raises(InstanceError, match="at most 1,000,000 are supported") as error:
        WORKLOADS[kind](**{name: most + 1})
    assert error.value.place == name
