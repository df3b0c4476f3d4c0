"""What the shell offers where dfopt knows the names; elsewhere it offers files.

Only the function of the word at hand runs, so others load nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dfopt.files.formats import Format

SOURCES = ("own", "tgid", "process", "marks", "wakeups")
"""Where fragments come from, without those that end in a text of one's own."""


def names_from(known: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a function that Typer asks for the names with the given beginning."""

    def beginning_with(incomplete: str) -> list[str]:
        return [name for name in known() if name.startswith(incomplete)]

    return beginning_with


def _run_queue_policies() -> Iterable[str]:
    from dfopt.simulate.policies import POLICIES

    return ("all", *POLICIES)


def _space_sharing_policies() -> Iterable[str]:
    from dfopt_models.space_sharing.policies import POLICIES

    return POLICIES


def _scenarios() -> Iterable[str]:
    return ("all", *_toml_files("dfopt", "simulate", "scenarios"))


def _mixes() -> Iterable[str]:
    return _toml_files("dfopt_models", "space_sharing", "mixes")


def _toml_files(package: str, *folder: str) -> list[str]:
    """Return the names of the files in a folder, without loading the packages that lead there."""
    from importlib import resources

    files = resources.files(package).joinpath(*folder).iterdir()
    return sorted(Path(file.name).stem for file in files if file.name.endswith(".toml"))


def _schemas() -> Iterable[str]:
    from dfopt.files.schema_files import schema_names

    return schema_names()


def models_of(model: str) -> Callable[[str], list[str]]:
    """Return what offers the parameters of a model that come with dfopt, such as ``batching``."""

    def shipped() -> Iterable[str]:
        from dfopt.files.formats import Format
        from dfopt_models.parameter_files import shipped_parameters

        file_format = Format(f"dfopt-{model}-model/1")  # type: ignore[call-arg]
        return shipped_parameters(file_format)

    return names_from(shipped)


def kinds_of(name: str) -> list[Format]:
    """Return what a name means that comes with dfopt: kinds of files, most often none or one."""
    from dfopt.files.formats import Format
    from dfopt_models.parameter_files import shipped_parameters

    known = {Format.MIX: _mixes, Format.SCENARIO: _scenarios}
    return [
        kind
        for kind in Format
        if name in (known[kind]() if kind in known else shipped_parameters(kind))
    ]


sources = names_from(lambda: SOURCES)
run_queue_policies = names_from(_run_queue_policies)
space_sharing_policies = names_from(_space_sharing_policies)
scenarios = names_from(_scenarios)
mixes = names_from(_mixes)
schemas = names_from(_schemas)
