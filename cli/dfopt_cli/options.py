"""Options that several commands share: single ones, and groups of them in a dataclass."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_type_hints

from typer import Argument, BadParameter, Option
from typer.core import TyperCommand

from dfopt_cli.failures import naming, usage

if TYPE_CHECKING:
    from dfopt.problem.cache_domains import CacheDomains

Result = TypeVar("Result")

STANDARD_INPUT = "-"

LABELS = "Which threads share data"
COLUMNS = "Columns of the log"
TIMES = "Times and loads"
COSTS = "What switches cost"
TASKS = "What tasks take, and what to minimise"
INSTANCE = "The instance that is written"
WINDOWS = "Windows of dispatches"
SEARCH = "How to search"
WORK = "Time and processes"
HEADINGS = (
    *("Arguments", "Options"),
    *(LABELS, COLUMNS, TIMES, COSTS, TASKS, INSTANCE, WINDOWS, SEARCH, WORK),
)
"""Headings of help in their order: options that few people need stand under the later ones."""


def read_by(name: str) -> Callable[[str], Any]:
    """Return what reads a text of the command line by a function of the library.

    The library is loaded when there is a text to read. Its errors are wrong usage.

    Parameters
    ----------
    name
        The function, as ``module:function``.
    """
    return lambda text: usage(lambda: resolve_name(name)(text))


def domains_of(text: str) -> CacheDomains:
    """Return the cache domains that an option names, itself or by a file."""
    from dfopt.files.streams import opened
    from dfopt.problem.cache_domains import cache_domains

    if text != STANDARD_INPUT and not text.strip("0123456789-,; "):
        with naming("--domains"):
            return cache_domains(text)
    with naming(text), opened(text) as stream:
        return cache_domains(stream.read().decode("utf-8", "replace").strip())


Method = Literal["auto", "exhaustive", "dp", "cp-sat", "configuration"]

InstanceArgument = Annotated[
    str,
    Argument(
        metavar="INSTANCE",
        help="The instance, a JSON file; it may be gzipped, and - is standard input.",
    ),
]

ResultArgument = Annotated[
    str,
    Argument(metavar="RESULT", help="The result, a JSON file as 'dfopt solve -o' writes it."),
]

OutputOption = Annotated[str, Option("--output", "-o", metavar="FILE", help="Where to write it.")]

PictureOption = Annotated[
    str,
    Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write the picture; its name ends in .svg, .png or .pdf.",
    ),
]

JsonOption = Annotated[bool, Option("--json", help="Print one JSON document and nothing else.")]

QuietOption = Annotated[bool, Option("--quiet", "-q", help="Show no progress.")]

SeedOption = Annotated[
    int, Option(min=0, help="Seed of everything random.", rich_help_panel=SEARCH)
]

WorkersOption = Annotated[
    int | None,
    Option(
        min=1,
        help="How many threads or processes share the work; by default one for each processor.",
        rich_help_panel=WORK,
    ),
]

DomainsOption = Annotated[
    Any,
    Option(
        parser=domains_of,
        metavar="DOMAINS",
        help="The CPUs that share a last-level cache, a semicolon between domains, such as "
        "'0-3;4-7'; or a file with the output of lscpu -p=CPU,CACHE.",
    ),
]


class HeadedCommand(TyperCommand):
    """A command whose help shows options under their headings, after those without one."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, options without a heading, and then the others, heading by heading."""
        sections: dict[str, list[tuple[str, str]]] = {heading: [] for heading in HEADINGS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                usual = f"{parameter.param_type_name}s".capitalize()
                sections[getattr(parameter, "rich_help_panel", None) or usual].append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def given(*groups: object) -> bool:
    """Return whether any option of these groups is given."""
    return any(group != type(group)() for group in groups)


def refuse_second_reading(files: Sequence[str]) -> None:
    """Refuse standard input that is named twice: it can be read only once."""
    if files.count(STANDARD_INPUT) > 1:
        raise BadParameter("standard input (-) can be read once only; name files")


def with_option_groups(command: Callable[..., Result]) -> Callable[..., Result]:
    """Return a command that takes the fields of its dataclass parameters as options.

    Typer sees every field as a parameter of its own, in the place of the dataclass; the command
    gets the dataclass. Where such a parameter has a default, the options have the defaults that
    it holds.
    """
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for parameter in signature.parameters.values():
        group = parameter.annotation
        if not is_dataclass(group):
            parameters.append(parameter)
            continue
        hints = get_type_hints(group, include_extras=True)
        groups[parameter.name] = (group, [field.name for field in fields(group)])
        for field in fields(group):
            default = getattr(parameter.default, field.name, field.default)
            parameters.append(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=inspect.Parameter.empty if default is MISSING else default,
                    annotation=hints[field.name],
                )
            )

    @functools.wraps(command)
    def with_groups(**values: Any) -> Result:
        for name, (group, names) in groups.items():
            values[name] = group(**{option: values.pop(option) for option in names})
        return command(**values)

    with_groups.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_groups.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del with_groups.__wrapped__
    return with_groups
