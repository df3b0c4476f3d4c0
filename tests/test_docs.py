"""The examples that readers copy: those of the README and of the documentation."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.console_blocks import commands_in, differences

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if "_build" not in page.parts and any(commands_in(page.read_text("utf-8")))
]


def test_the_python_example_of_the_readme(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (promised,) = re.findall(r"print\(.*\)  # (.*)", example)
    monkeypatch.chdir(ROOT)
    exec(example, {})
    assert capsys.readouterr().out.strip() == promised


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_in_the_documentation(page: Path) -> None:
    """They print what their page shows."""
    found = [f"line {line}: {message}" for line, message in differences(page, DOCS / "examples")]
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_examples_in_the_documentation(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "doctest"]
    done = subprocess.run([*command, DOCS, tmp_path], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
