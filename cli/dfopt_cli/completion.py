"""What the shell offers where dfopt knows the names; elsewhere it offers files.

Only the function of the word at hand runs, so others load nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dfopt.files.formats import Format

SOURCES = ("own", "tgid", "process", "marks", "wakeups")
"""Where fragments come from, without those that end in a text of one's own."""

FOLDERS = {
    "scenarios": ("dfopt", "simulate/scenarios"),
    "mixes": ("dfopt_models", "space_sharing/mixes"),
}
"""The package and the folder of files that come with dfopt."""


def names_from(known: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a function that Typer asks for the names with the given beginning."""

    def beginning_with(incomplete: str) -> list[str]:
        return [name for name in known() if name.startswith(incomplete)]

    return beginning_with


def names_in(kind: str) -> list[str]:
    """Return the names of the files in a folder, without loading the packages that lead there."""
    package, folder = FOLDERS[kind]
    files = (Path(file.name) for file in resources.files(package).joinpath(folder).iterdir())
    return sorted(file.stem for file in files if file.suffix == ".toml")


def models_of(model: str) -> Callable[[str], list[str]]:
    """Return what offers the parameters of a model that come with dfopt, such as ``batching``."""

    def shipped() -> Iterable[str]:
        from dfopt.files.formats import Format
        from dfopt_models.model import shipped_parameters

        file_format = Format(f"dfopt-{model}-model/1")  # type: ignore[call-arg]
        return shipped_parameters(file_format)

    return names_from(shipped)


def kinds_of(name: str) -> list[Format]:
    """Return what a name means that comes with dfopt: kinds of files, most often none or one."""
    from dfopt.files.formats import Format
    from dfopt_models.model import shipped_parameters

    known = {Format.MIX: "mixes", Format.SCENARIO: "scenarios"}
    return [
        kind
        for kind in Format
        if name in (names_in(known[kind]) if kind in known else shipped_parameters(kind))
    ]


sources = names_from(lambda: SOURCES)
run_queue_policies = names_from(lambda: ("all", *resolve_name("dfopt.simulate.policies:POLICIES")))
space_sharing_policies = names_from(
    lambda: resolve_name("dfopt_models.space_sharing.policies:POLICIES")
)
scenarios = names_from(lambda: ("all", *names_in("scenarios")))
mixes = names_from(lambda: names_in("mixes"))
schemas = names_from(lambda: list(resolve_name("dfopt.files.formats:schema_names")()))
