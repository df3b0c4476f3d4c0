"""The notebooks of the documentation: every cell runs, and what cells end in can be shown."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def run(cells: list[dict[str, Any]], name: str) -> list[object]:
    """Run the cells as a kernel does; return the values that their last lines have."""
    names: dict[str, Any] = {}
    shown: list[object] = []
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        place = f"{name}, cell {number}"
        exec(compile(tree, place, "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), place, "eval"), names))
    return shown


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_run_and_show_tables_and_pictures(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statements of a notebook are asserted in its cells."""
    monkeypatch.chdir(path.parent)
    shown = run(json.loads(path.read_text("utf-8"))["cells"], path.name)
    html = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_")]
    assert any("</table>" in table for table in html)
    assert sum("data:image/svg+xml" in picture for picture in html) >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_are_kept_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
