"""Options that several commands share: single ones, and groups of them in a dataclass."""

from __future__ import annotations

import copy
import functools
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_type_hints

from msgspec import Meta
from typer import Argument, BadParameter, Option
from typer.core import TyperCommand

from dfopt.checks import LARGEST_TOTAL
from dfopt_cli.failures import naming, usage

if TYPE_CHECKING:
    from dfopt.problem.cache_domains import CacheDomains

Result = TypeVar("Result")

STANDARD_INPUT = "-"

INSTANCE = "The instance that is written"
SEARCH = "How to search"
WORK = "Time and processes"
HEADINGS = (
    "Arguments",
    "Options",
    "Which threads share data",
    "Columns of the log",
    "Times and loads",
    "What switches cost",
    "What tasks take, and what to minimise",
    INSTANCE,
    "Windows of dispatches",
    SEARCH,
    WORK,
)
"""Headings of help in their order: options that few people need stand under the later ones."""

SECTION = re.compile(r"\n\n(.+)\n-{3,}\n")
ENTRY = re.compile(r"^(\w+)(?: : (.+))?\n((?: .+\n?)+)", re.MULTILINE)
"""The sections of a docstring, and what they say of each option: see :func:`as_command`."""


def read_by(name: str) -> Any:
    """Return the option of Typer's whose text a function of the library reads.

    The library is loaded when there is a text to read. Its errors are wrong usage.

    Parameters
    ----------
    name
        The function, as ``module:function``.
    """
    return Option(parser=lambda text: usage(lambda: resolve_name(name)(text)))


def domains_of(text: str) -> CacheDomains:
    """Return the cache domains that an option names, itself or by a file."""
    from dfopt.files.storage import opened
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


def as_command(function: Callable[..., Result]) -> Callable[..., Result]:
    """Return a function as Typer takes it, with the options that its docstring describes.

    A section of the docstring is a heading of the help. In it stands each option by the name of its
    parameter; behind a colon come its other names and the word for its value, if it has any; below
    stands what it means. The annotation of the parameter says the rest: by a type of documents such
    as ``Natural``, or by an option of Typer's.

    The fields of a dataclass that is a parameter are options, too, described by the docstring of
    the dataclass; each has a default. Typer sees each field as a parameter; the function gets the
    dataclass. Where such a parameter has a default, the options have the defaults that it holds.
    """
    meaning, said = described(function)
    signature = inspect.signature(function, eval_str=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        own = [parameter]
        group: type = parameter.annotation
        if is_dataclass(group):
            groups[parameter.name] = group
            hints = get_type_hints(group, include_extras=True)
            for kind in group.__mro__:
                said |= described(kind)[1]
            own = [
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=getattr(parameter.default, field.name, field.default),
                    annotation=hints[field.name],
                )
                for field in fields(group)
            ]
        parameters += [completed(each, said) for each in own]

    @functools.wraps(function)
    def command(**values: Any) -> Result:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        return function(**values)

    command.__doc__ = meaning
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del command.__wrapped__
    return command


def described(holder: Any) -> tuple[str, dict[str, tuple[str, str, str]]]:
    """Return a docstring up to its sections, and of each option in these three texts.

    They are the heading, the names with the word for the value, and the meaning.
    """
    before, *sections = SECTION.split(inspect.cleandoc(holder.__doc__ or ""))
    return before, {
        name: (heading, written, " ".join(line.strip() for line in meaning.splitlines()))
        for heading, entries in zip(sections[::2], sections[1::2], strict=True)
        for name, written, meaning in ENTRY.findall(entries)
    }


def completed(
    parameter: inspect.Parameter, said: dict[str, tuple[str, str, str]]
) -> inspect.Parameter:
    """Return a parameter with what a docstring says of it as an option."""
    if parameter.name not in said:
        return parameter
    heading, written, meaning = said[parameter.name]
    kind = parameter.annotation
    # Of a type that may be None, the other part is annotated.
    parts = (kind, *get_args(kind))
    mark = next((mark for part in parts for mark in getattr(part, "__metadata__", ())), None)
    option: Any = Argument() if heading == "Arguments" else Option()
    if isinstance(mark, Meta):
        option.min, option.max = mark.ge, None if mark.le == LARGEST_TOTAL else mark.le
    elif mark is not None:
        kind, option = kind.__origin__, copy.copy(mark)
    names = [word for word in written.split() if word.startswith("-")]
    value = " ".join(word for word in written.split() if word not in names)
    if kind is bool or names:
        long = [f"--{parameter.name.replace('_', '-')}"]
        option.param_decls = names if names and names[0].startswith("--") else long + names
    option.metavar = value or option.metavar
    option.help, option.rich_help_panel = meaning, heading
    option.default = ... if parameter.default is parameter.empty else parameter.default
    return parameter.replace(annotation=kind, default=option)
