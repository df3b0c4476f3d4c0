"""Damaged files: an instance or an error of one line, whatever was changed."""

import random
from pathlib import Path

import pytest

from dfopt.errors import DfoptError
from dfopt.files.imported import import_instance
from tests.files.imported.written import (
    bins_with_colours,
    bins_with_setups,
    lines,
    saved,
    task_graph,
    triplets,
    tsplib,
)

ORDERING = [[0, 1, 2, 9], [-1, 0, 4, 1], [-1, -1, 0, 1], [-1, -1, -1, 0]]
WHOLE = {
    "tour": tsplib([[0, 1, 2], [3, 0, 4], [5, 6, 0]]),
    "half": tsplib([[0, 1, 2], [1, 0, 4], [2, 4, 0]], "TSP", "UPPER_ROW"),
    "points": "NAME: p\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: GEO\nNODE_COORD_SECTION\n"
    "1 0.0 0\n2 3.3 4\n3 6 8\nEOF\n",
    "ordering": tsplib(ORDERING, "SOP"),
    "table": lines(ORDERING),
    "graph": task_graph([2, 3, 4], [[], [1], [1, 2]]),
    "setups": bins_with_setups(10, [(2, [3, 4]), (1, [5])]),
    "colours": bins_with_colours(2, 9, [(0, 3), (1, 4), (1, 5)]),
    "triplets": triplets([(0, 300), (1, 400), (2, 200)]),
}
JUNK = (
    "-1", "0", "1", "2", "9" * 30, "1e400", "-1e-400", "nan", "x", ":", "", "\n", "\0", "EOF",
    "TYPE: TSP", "EDGE_WEIGHT_SECTION", "NAME:", "½", "+3", "1_0", "0x1", ",", "#", "3 3",
)  # fmt: skip


def damaged(text: str, drawn: random.Random) -> str:
    for _ in range(drawn.randint(1, 3)):
        words = text.replace("\n", " \n ").split(" ")
        place = drawn.randrange(len(words))
        match drawn.randrange(4):
            case 0:
                del words[place]
            case 1:
                words[place] = drawn.choice(JUNK)
            case 2:
                words.insert(place, drawn.choice(JUNK))
            case _:
                other = drawn.randrange(len(words))
                words[place], words[other] = words[other], words[place]
        text = " ".join(words)
    return text


@pytest.mark.parametrize("name", WHOLE)
def test_damage_is_read_or_refused(name: str, tmp_path: Path) -> None:
    drawn = random.Random(name)
    refused: list[str] = []
    for _ in range(200):
        path = saved(tmp_path, damaged(WHOLE[name], drawn))
        try:
            import_instance(path, cpus=drawn.choice([None, 1, 2]))
        except DfoptError as error:
            refused.append(str(error))
    assert refused
    assert all(line.startswith(f"{path}: ") and "\n" not in line for line in refused)
