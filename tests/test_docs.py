"""The examples that readers copy: those of the README and of the documentation."""

import doctest
import importlib
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.console_blocks import commands_in, differences

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = re.compile(
    r"^```\{(?P<directive>testsetup|doctest)\}\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "_build" not in page.parts]
PAGES_ELSEWHERE = [*sorted(ROOT.glob("*.md")), ROOT / "instances" / "README.md"]
LINKS = re.compile(r"\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)")
PAGES_WITH_COMMANDS = [page for page in PAGES if any(commands_in(page.read_text("utf-8")))]
PAGES_WITH_EXAMPLES = [page for page in PAGES if "```{doctest}" in page.read_text("utf-8")]


def test_the_python_example_of_the_readme(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (promised,) = re.findall(r"print\(.*\)  # (.*)", example)
    monkeypatch.chdir(DOCS / "examples")
    exec(example, {})
    assert capsys.readouterr().out.strip() == promised


@pytest.mark.parametrize("page", PAGES_ELSEWHERE, ids=lambda page: page.parent.name + page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    """Links among the pages of the documentation are checked as these are built."""
    links = set(LINKS.findall(page.read_text("utf-8")))
    assert not [link for link in links if not (page.parent / link).exists()]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES_WITH_COMMANDS, ids=lambda page: page.stem)
def test_commands_in_the_documentation(page: Path) -> None:
    """They print what their page shows."""
    found = [f"line {line}: {message}" for line, message in differences(page, DOCS / "examples")]
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES_WITH_EXAMPLES, ids=lambda page: page.stem)
def test_examples_in_the_documentation(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The examples of a page share their names, and run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"os": os, "_examples": DOCS / "examples"}
    text = page.read_text("utf-8")
    for block in EXAMPLES.finditer(text):
        if block["directive"] == "testsetup":
            exec(block["code"], names)
            continue
        line = text.count("\n", 0, block.start("code"))
        test = doctest.DocTestParser().get_doctest(block["code"], {}, page.name, str(page), line)
        test.globs = names
        found: list[str] = []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(
            test, out=found.append, clear_globs=False
        )
        assert not found, "".join(found)


@pytest.mark.parametrize("module", ["dfopt.generate.families", "dfopt.solvers.facade"])
def test_examples_in_docstrings(module: str) -> None:
    tried = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert tried.attempted
    assert not tried.failed
