"""What a release consists of: its texts, and the steps that make it."""

import re
import runpy
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml

import dfopt
from release.notes import NotReadyError, release_notes
from release.sbom import bill_of_materials, locked_packages

ROOT = Path(__file__).parents[1]
DESCRIPTION = (ROOT / "release" / "description.md").read_text("utf-8")
WORKFLOW = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
LOCK = (ROOT / "requirements" / "run.txt").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
CHANGES = (
    "# Changelog\n\n## [Unreleased]\n\n## [{}] - 2026-12-01\n\n### Added\n\n- It.\n\n## [0.1.0]\n"
)


def test_the_description_can_stand_alone() -> None:
    # An index shows no files of the project, so links and pictures would lead nowhere.
    assert not re.search(r"\]\(|<\w+|://", DESCRIPTION)
    commands = [line for line in DESCRIPTION.splitlines() if line.startswith("$ ")]
    assert commands
    for command in commands:
        words = command.split()[1:]
        assert words[0] == "dfopt"
        assert words[1] in {"compare", "generate", "solve", "verify"}


def test_the_example_of_the_description(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", DESCRIPTION, re.DOTALL)
    (promised,) = re.findall(r"print\(.*\)  # (.*)", example)
    exec(example, {})
    assert capsys.readouterr().out.strip() == promised


def test_the_package_runs_as_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["dfopt", "--version"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("dfopt", run_name="__main__")
    assert end.value.code == 0
    assert capsys.readouterr().out == f"dfopt {dfopt.__version__}\n"


def steps() -> list[dict[str, str]]:
    """Return all steps of the workflow."""
    return [step for job in yaml.safe_load(WORKFLOW)["jobs"].values() for step in job["steps"]]


def test_actions_are_pinned_by_commit() -> None:
    used = [step["uses"] for step in steps() if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in used)
    assert len(re.findall(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", WORKFLOW, re.MULTILINE)) == len(used)


def test_commands_of_the_workflow_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    called = [step["run"].split() for step in steps() if step.get("run", "").startswith("make ")]
    assert {words[1] for words in called} >= {"release-notes", "sbom", "wheel-test"}
    assert {words[1] for words in called} <= targets


def test_only_what_publishes_has_rights() -> None:
    workflow = yaml.safe_load(WORKFLOW)
    assert workflow["permissions"] == {}
    rights = {name: job["permissions"] for name, job in workflow["jobs"].items()}
    assert rights == {
        "build": {"contents": "read"},
        "publish": {"id-token": "write"},
        "announce": {"contents": "write"},
    }
    # A name that somebody chose must not become part of a command.
    assert all("${{" not in step.get("run", "") for step in steps())
    assert "://" not in WORKFLOW


def test_the_workflow_tries_every_version_of_python() -> None:
    workflow = yaml.safe_load(WORKFLOW)
    tried = workflow["jobs"]["build"]["strategy"]["matrix"]["python"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [name.rpartition(" ")[2] for name in project["classifiers"] if " :: 3." in name]
    assert tried == named


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project that is ready for the release 1.2.0."""
    (tmp_path / "dfopt").mkdir()
    (tmp_path / "dfopt" / "_version.py").write_text('"""It."""\n\n__version__ = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGES.format("1.2.0"))
    (tmp_path / "CITATION.cff").write_text("version: 1.2.0\ndate-released: 2026-12-01\n")
    return tmp_path


def test_notes_are_the_section_of_the_changelog(project: Path) -> None:
    assert release_notes("v1.2.0", project) == "### Added\n\n- It.\n"


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "dfopt/_version.py",
            '__version__ = "1.3.0"\n',
            r"says 1.3.0, which the tag 'v1.2.0' is not; give TAG=v1.3.0",
        ),
        (
            "CHANGELOG.md",
            CHANGES.format("1.1.0"),
            r"CHANGELOG.md: has no line of the form ## \[1.2.0\]",
        ),
        (
            "CITATION.cff",
            "version: 1.2.0\n",
            "CITATION.cff: has no line of the form date-released: 2026-12-01",
        ),
        (
            "CITATION.cff",
            "version: 1.2.0\ndate-released: 2026-12-02\n",
            "but CITATION.cff 1.2.0 of",
        ),
        (
            "CITATION.cff",
            "version: 1.1.0\ndate-released: 2026-12-01\n",
            "but CITATION.cff 1.1.0 of",
        ),
    ],
)
def test_a_tag_that_does_not_fit_is_refused(
    project: Path, file: str, text: str, message: str
) -> None:
    (project / file).write_text(text)
    with pytest.raises(NotReadyError, match=message):
        release_notes("v1.2.0", project)


def test_the_citation_has_what_its_format_asks_for() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert all(author.keys() == {"name"} for author in citation["authors"])
    assert citation["license"] == "Apache-2.0"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    addresses = {citation[key] for key in ("url", "repository-code") if key in citation}
    assert addresses <= set(project.get("urls", {}).values())


def bill() -> dict[str, Any]:
    """Return the bill of materials of the lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return bill_of_materials(LOCK, project, "1.2.0")


def test_the_bill_of_materials_is_the_lock() -> None:
    listed = {
        entry["purl"]: [found["content"] for found in entry["externalReferences"][0]["hashes"]]
        for entry in bill()["components"]
    }
    pins = re.split(r"^(?=\S)", LOCK, flags=re.MULTILINE)[1:]
    assert listed == {
        f"pkg:pypi/{pin.split()[0].replace('==', '@')}": re.findall(r"sha256:(\w{64})", pin)
        for pin in pins
    }
    assert all(listed.values())
    assert sum(map(len, listed.values())) == LOCK.count("sha256:")


def test_the_bill_of_materials_says_what_runs() -> None:
    made = bill()
    scopes = {entry["name"]: entry["scope"] for entry in made["components"]}
    assert scopes["numpy"] == scopes["packaging"] == "required"
    assert scopes["hatchling"] == "excluded"
    numpy = next(
        entry
        for entry in made["components"]
        if entry["purl"] == f"pkg:pypi/numpy@{metadata.version('numpy')}"
    )
    assert "BSD-3-Clause" in numpy["licenses"][0]["expression"]
    root, *others = made["dependencies"]
    assert root["ref"] == "pkg:pypi/dfopt@1.2.0"
    assert numpy["purl"] in root["dependsOn"]
    known = {entry["bom-ref"] for entry in made["components"]}
    assert {url for edge in (root, *others) for url in edge["dependsOn"]} <= known
    assert made == bill()


def test_the_bill_of_materials_says_where_a_version_is_for() -> None:
    pin = f"numpy==0.1 ; python_full_version < '3.12' \\\n    --hash=sha256:{'0' * 64}\n"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (entry,) = bill_of_materials(pin, project, "1.2.0")["components"]
    assert entry["properties"] == [
        {"name": "python:marker", "value": "python_full_version < '3.12'"}
    ]
    assert "licenses" not in entry  # another version is installed


def test_the_bill_of_materials_says_when_the_commit_was_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    undated = bill()
    assert "timestamp" not in undated["metadata"]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1764547200")
    dated = bill()
    assert dated["metadata"]["timestamp"] == "2025-12-01T00:00:00Z"
    assert dated["serialNumber"] == undated["serialNumber"]


def test_a_lock_that_is_not_understood_is_refused() -> None:
    with pytest.raises(ValueError, match=r"line 2 is neither .*: somewhere"):
        locked_packages("numpy==2.4.6 \\\nsomewhere\n")
