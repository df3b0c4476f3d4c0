"""The distribution: what is installed, what start-up costs, what the locks hold."""

import ast
import re
import subprocess
import sys
import sysconfig
import tomllib
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import pytest
from packaging.metadata import Metadata
from trove_classifiers import classifiers

import dfopt

ROOT = Path(__file__).parents[1]
PACKAGES = {"dfopt", "dfopt_models", "dfopt_cli"}
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
BUILD_HOOK = ROOT / "dfopt" / "core" / "build.py"
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


def run(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def pins(lock: str) -> set[tuple[str, str]]:
    return set(PIN.findall((ROOT / "requirements" / lock).read_text()))


def test_command_is_installed() -> None:
    assert "Usage: dfopt" in run(Path(sysconfig.get_path("scripts"), "dfopt"), "--help")


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_packages_are_typed(package: str) -> None:
    assert resources.files(package).joinpath("py.typed").is_file()


def test_schemas_are_installed() -> None:
    schemas = resources.files("dfopt").joinpath("files", "schemas")
    assert [file.name for file in schemas.iterdir() if file.name.endswith(".json")]


@pytest.fixture
def files() -> list[metadata.PackagePath]:
    """The files of the wheel."""
    installed = metadata.files("dfopt") or []
    if any(file.suffix == ".pth" for file in installed):
        pytest.skip("an editable install: only the wheel can tell")
    return installed


def test_wheel_holds_the_packages_alone(files: list[metadata.PackagePath]) -> None:
    folders = {file.parts[0] for file in files}
    assert folders - {".."} == PACKAGES | {f"dfopt-{metadata.version('dfopt')}.dist-info"}


def test_wheel_holds_every_file(files: list[metadata.PackagePath]) -> None:
    # The sources are gone; make has written down which there were.
    sources = (ROOT / "sources.txt").read_text().splitlines()
    installed = {file.as_posix() for file in files}
    assert len(sources) > len(PACKAGES)
    modules = [source for source in sources if not source.startswith("dfopt/core/")]
    assert {re.sub("^(models|cli)/", "", source) for source in modules} <= installed


def test_wheel_holds_of_the_core_what_is_built(files: list[metadata.PackagePath]) -> None:
    core = [file.name for file in files if file.parent.as_posix() == "dfopt/core"]
    assert core == ["libcore.so"]
    tags = metadata.distribution("dfopt").read_text("WHEEL") or ""
    assert "Tag: py3-none-" in tags
    assert "Tag: py3-none-any" not in tags


def text_of_the_metadata() -> str:
    """Return the metadata of the wheel: that which is installed, or of the sources."""
    if not (ROOT / "dfopt").exists():
        return metadata.distribution("dfopt").read_text("METADATA") or ""
    from hatchling.builders.wheel import WheelBuilder

    builder = WheelBuilder(str(ROOT))
    builder.metadata.validate_fields()
    return builder.config.core_metadata_constructor(builder.metadata)


def test_metadata_are_valid() -> None:
    made = Metadata.from_email(text_of_the_metadata(), validate=True)
    assert made.metadata_version == "2.4"
    assert str(made.version) == dfopt.__version__
    assert made.license_expression == "Apache-2.0"
    assert made.license_files == ["LICENSE"]
    assert made.description_content_type == "text/markdown"
    written = (ROOT / "release" / "description.md").read_text("utf-8")
    assert (made.description or "").strip() == written.strip()
    assert set(made.classifiers or []) <= classifiers


def test_extras_are_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for text in ("docs/how-to/install.md", "release/description.md"):
        said = (ROOT / text).read_text("utf-8")
        assert not [extra for extra in project["optional-dependencies"] if f"`{extra}`" not in said]


def test_citation_names_this_version() -> None:
    assert f"\nversion: {metadata.version('dfopt')}\n" in (ROOT / "CITATION.cff").read_text()


def test_locks_cover_the_dependencies_and_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["build"]
    wanted += project["project"]["optional-dependencies"]["report"]  # pages need no more set-up
    locked = {name for name, _ in pins("run.txt")}
    assert {re.split(r"[^a-z0-9-]", requirement)[0] for requirement in wanted} <= locked
    assert pins("run.txt") <= pins("dev.txt")


def declared(project: dict[str, Any], *groups: str) -> set[str]:
    """Return the packages that a user of all extras has, and those of groups."""
    wanted = [*project["project"]["dependencies"]]
    for extra in project["project"]["optional-dependencies"].values():
        wanted += extra
    for group in groups:
        wanted += project["dependency-groups"][group]
    return {re.split(r"[^a-z0-9-]", requirement)[0] for requirement in wanted}


def imported(folder: str) -> set[str]:
    """Return what the Python files below a folder import, without Python's own modules."""
    found = set()
    for file in (ROOT / folder).rglob("*.py"):
        if file == BUILD_HOOK:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folders", "groups"),
    [
        (("dfopt", "models", "cli"), ()),
        (("tests", "release"), ("build", "test")),
        (("docs",), ("build", "test", "docs")),
    ],
)
def test_what_is_imported_is_declared(folders: tuple[str, ...], groups: tuple[str, ...]) -> None:
    """What only another package brings along may be gone with its next version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    known = declared(project, *groups)
    owners = metadata.packages_distributions()
    for name in set().union(*map(imported, folders)) - PACKAGES:
        distributions = {owner.lower().replace("_", "-") for owner in owners.get(name, [])}
        assert not distributions or distributions & known, name


@pytest.mark.parametrize(
    "file",
    [*LOCKS, ROOT / "pyproject.toml", ROOT / "Makefile", ROOT / ".pre-commit-config.yaml"],
    ids=lambda file: file.name,
)
def test_no_registry_is_named(file: Path) -> None:
    # The source of packages is the configuration of the installer, not of the project.
    assert "://" not in file.read_text()
    assert "index-url" not in file.read_text()
