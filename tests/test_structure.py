"""The structure of the sources: imports run one way, and a class name means one class."""

import ast
import re
from collections import defaultdict
from importlib import util
from pathlib import Path

import networkx as nx
import pytest

PACKAGES = ("dfopt", "dfopt_models", "dfopt_cli")


def modules() -> dict[str, Path]:
    """Return the file of each module, by its name."""
    found = {}
    for package in PACKAGES:
        spec = util.find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent
        for file in folder.rglob("*.py"):
            parts = (package, *file.relative_to(folder).with_suffix("").parts)
            found[".".join(part for part in parts if part != "__init__")] = file
    return found


def imported(tree: ast.AST, known: dict[str, Path]) -> set[str]:
    """Return the modules that a module imports anywhere, for types only too."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None, "imports are absolute"
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                names.add(module if module in known else node.module)
    return names & known.keys()


@pytest.mark.slow
def test_no_files_import_each_other() -> None:
    known = modules()
    imports = nx.DiGraph()
    for name, file in known.items():
        for other in imported(ast.parse(file.read_text(encoding="utf-8")), known):
            imports.add_edge(name, other)
    circles = [sorted(circle) for circle in nx.strongly_connected_components(imports)]
    assert len(imports) > len(known) // 2
    assert not [circle for circle in circles if len(circle) > 1]
    assert not list(nx.selfloop_edges(imports))


def test_every_class_has_a_name_of_its_own() -> None:
    places = defaultdict(list)
    for name, file in modules().items():
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    assert len(places) > len(PACKAGES)
    assert not {name: found for name, found in places.items() if len(found) > 1}


CHECKERS = {
    "attainable.bound.proof",
    "attainable.bound.start_windows",
    "attainable.bound.stretches",
    "attainable.check",
    "cost_model",
    "dispatches",
}


def test_checkers_share_no_code_with_searches() -> None:
    package = "dfopt.compare"
    known = modules()
    for name in CHECKERS:
        module = f"{package}.{name}"
        used = imported(ast.parse(known[module].read_text(encoding="utf-8")), known)
        own = {other for other in used if other.startswith(package)}
        assert own <= {f"{package}.{checker}" for checker in CHECKERS}, module
        assert not any(other.startswith(("dfopt.solvers", "dfopt.costs")) for other in used)
        core = {other for other in used if other.startswith("dfopt.native")}
        assert core <= {"dfopt.native.cpu_path", "dfopt.native.library"}, module


def test_what_checkers_use_of_the_core_includes_nothing_else() -> None:
    folder = modules()["dfopt"].parent / "core/cpu_path"
    if not folder.exists():
        pytest.skip("the core's sources are not part of the wheel")
    sources = [*folder.glob("*.cpp"), *folder.glob("*.hpp"), folder.parent / "calls.hpp"]
    assert len(sources) >= 3
    for source in sources:
        included = re.findall(r'#include "(.*)"', source.read_text(encoding="utf-8"))
        assert set(included) <= {"path.hpp", "../calls.hpp", "base.hpp"}, source
