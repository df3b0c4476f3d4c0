"""Published problems: found, converted, solved, and held against what was published."""

import csv
import zipfile
from pathlib import Path

import pytest

from docs.reproduction.outside.collections_of import COLLECTIONS
from docs.reproduction.outside.report import INTERRUPTED, WRONG, main
from docs.reproduction.outside.workbook import rows_of
from tests.files.imported.written import (
    bins_with_colours,
    bins_with_setups,
    saved,
    task_graph,
    tsplib,
)

BR17 = [[0, 13, 99], [99, 0, 13], [13, 99, 0]]
"""The shortest tour has the length that is published for br17."""

COLOURS = [
    ("1/70-8/70-8-1", "2"), ("1*/70-8/70-8-1", "2"), ("3/10/10-1", "2"), ("3/10/10-1", "4"),
]  # fmt: skip
"""Rows of published bounds; two of them leave out which file they are about."""

SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'


def write_workbook(path: Path, rows: list[dict[str, str]]) -> None:
    texts = sorted({text for row in rows for text in row.values() if not text.isdigit()})
    cells = ""
    for number, row in enumerate(rows, 1):
        cells += "<row>"
        for column, text in row.items():
            shared = ' t="s"' if text in texts else ""
            value = texts.index(text) if text in texts else text
            cells += f'<c r="{column}{number}"{shared}><v>{value}</v></c>'
        cells += "</row>"
    strings = "".join(f"<si><t>{text}</t></si>" for text in texts)
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/sharedStrings.xml", f"<sst {space}>{strings}</sst>")
        archive.writestr("xl/worksheets/sheet1.xml", f"{SHEET}{cells}</sheetData></worksheet>")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "files"
    (root / "50").mkdir(parents=True)
    saved(root, tsplib(BR17), "br17.atsp")
    head = "NAME: gr24\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    text = f"{head}1 0 0\n2 300 0\n3 636 0\nEOF\n"
    saved(root, text, "gr24.tsp")
    saved(root, "NAME: gr24\nTOUR_SECTION\n2\n1\n3\n-1\nEOF\n", "gr24.opt.tour")
    saved(root / "50", task_graph([131, 131], [[], []]), "rand0000.stg")
    saved(root, bins_with_setups(10, [(2, [3, 4]), (1, [5])]), "bpps_n3f0_seed0.txt")
    write_workbook(
        root / "computational_results.xlsx",
        [{"A": "name"}, {"A": "bpps_n3f0_seed0.txt", "G": "no", "J": "2", "K": "yes"}],
    )
    sets = root / "InstancesBPPMCF"
    write_workbook(
        root / "Best LBs and UBs.xlsx",
        [
            {"A": "Instance", "B": "Best LB", "C": "Best UB"},
            *({"A": f"Dataset {title}.txt", "B": bound, "C": bound} for title, bound in COLOURS),
        ],
    )
    for file in ("1/70-8/70-8-1", "3/10-4/10-4-1", "3/10-6/10-6-1"):
        path = sets / f"Dataset {file}.txt"
        path.parent.mkdir(parents=True)
        saved(path.parent, bins_with_colours(3, 9, [(0, 3), (1, 4), (1, 5)]), path.name)
    least = "InstancesBPPMCF/Dataset 1/70-8/70-8-1.txt;2\n"
    saved(sets, b"\xef\xbb\xbf" + least.encode(), "minNumberOfBinsPerInstance.txt")
    return root


def names(folder: Path) -> list[str]:
    return [truth.name for find in COLLECTIONS.values() for truth in find(folder)]


def test_workbooks_are_read(folder: Path) -> None:
    assert list(rows_of(folder / "computational_results.xlsx"))[1] == {
        "A": "bpps_n3f0_seed0.txt", "G": "no", "J": "2", "K": "yes"
    }  # fmt: skip


def test_all_problems_are_found(folder: Path) -> None:
    assert names(folder) == [
        "br17", "gr24", "stg50-rand0000-m2", "stg50-rand0000-m4", "stg50-rand0000-m8",
        "bpps_n3f0_seed0-m2", "bpps_n3f0_seed0-m1",
        "D1-70-8-1", "D1s-70-8-1", "D3-10-4-1", "D3-10-6-1",
    ]  # fmt: skip


def test_only_bounds_that_differ_are_open(folder: Path) -> None:
    assert not any(truth.is_open for find in COLLECTIONS.values() for truth in find(folder))
    saved(folder, "", "ry48p.2.sop")
    assert [truth.name for truth in COLLECTIONS["SOP"](folder) if truth.is_open] == ["ry48p.2"]


@pytest.mark.usefixtures("in_this_process")
def test_a_run_goes_on_where_it_was_and_writes_the_page(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    chosen = [f"--collection={name}" for name in ("ATSP", "TSP", "BPPS", "BPPMCF")]
    arguments = [str(folder), str(tmp_path / "work"), "--time-limit", "20", *chosen]
    saved(folder, "TYPE: ATSP\n", "ft53.atsp")  # what cannot be read is left out
    assert main([*arguments, "--page", str(page)]) == 0
    shown = capsys.readouterr()
    assert "6 confirmed, 2 sharper, 0 within, 0 contradiction" in shown.out
    assert "left out: " in shown.err
    assert "ft53.atsp: the keyword EDGE_WEIGHT_TYPE is missing" in shown.err
    text = page.read_text()
    assert "| ATSP | 1 | 1 | 0 | 0 | 0 | 0 | 1 | 1 |" in text
    assert "| BPPMCF, class unnamed | 2 | 0 | 2 |" in text
    assert "| gr24 | 1272 | 1272 |" in text
    assert "their 1 lengths are the listed optima, all of them." in text
    assert "No result contradicts what was published." in text
    assert "$" not in text
    assert main(arguments) == 0
    assert "1 of 8" not in capsys.readouterr().err


@pytest.mark.usefixtures("in_this_process")
def test_a_contradiction_ends_with_1(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved(folder, tsplib([[0, 1, 1], [1, 0, 1], [1, 1, 0]]), "br17.atsp")
    work = tmp_path / "work"
    assert main([str(folder), str(work), "--collection=ATSP", "--time-limit", "20"]) == WRONG
    assert "WRONG: br17: contradiction" in capsys.readouterr().err
    with (work / "rows.csv").open(newline="") as stream:
        assert [row["objective"] for row in csv.DictReader(stream)] == ["3"]


def test_an_interrupt_keeps_what_is_done(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dfopt.bench.benchmark import Attempt

    def interrupted(_: Attempt) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Attempt, "perform", interrupted)
    work = tmp_path / "work"
    assert main([str(folder), str(work), "--collection=ATSP"]) == INTERRUPTED
    assert (work / "rows.csv").exists()


def test_a_folder_without_problems_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), str(tmp_path / "work")]) == WRONG
    assert "no published problem" in capsys.readouterr().err
