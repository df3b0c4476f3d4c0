"""Analytic models: what a model is, and those that there are.

A model has parameters, a type from which their TOML documents follow; equations, each written once
for numbers and for symbols; and what it says of parameters, a result from which a JSON document and
tables follow. A small model is a single file. Pictures are in :mod:`dfopt_models.plot`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import msgspec

from dfopt.errors import DfoptError, FileError
from dfopt.files import read_text, write_text
from dfopt.files.documents import DocumentType
from dfopt.files.formats import Format, named_format
from dfopt.files.storage import STANDARD_INPUT, shown_name
from dfopt.structs import Checked, DocumentPart, Record
from dfopt.table import Table, Value, facts
from dfopt_models.errors import ModelError
from dfopt_models.formulas import Formula

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PositiveNumber = Annotated[float, msgspec.Meta(gt=0)]

Parameters = TypeVar("Parameters", bound=DocumentPart)

MODELS = ("response-time", "crossover", "contention", "batching", "counters", "queueing")
"""The models; each is a constant of its name in a module of its name."""


ENDING = ".toml"
"""The ending of the parameter files in the package."""

FOLDER: Any = resources.files("dfopt_models") / "parameters"
"""The parameter files of all models; each names its format, and so says whose it is."""

ASSUMED = "assumed"
"""A source that begins with this word says that nobody measured or published the value."""


class Sourced(Checked):
    """A table of parameters.

    Parameters
    ----------
    sources
        Where each number comes from. A text that begins with ``assumed`` marks an assumption.
    """

    sources: dict[str, str] = msgspec.field(name="x-source", default_factory=dict)

    @property
    def assumed(self) -> tuple[str, ...]:
        """The parameters that are assumptions."""
        sources = self.sources.items()
        return tuple(name for name, source in sources if source.lower().startswith(ASSUMED))


def assumed_in(tables: Mapping[str, Sourced | None]) -> tuple[str, ...]:
    """Return the parameters of tables that are assumptions, after where they stand."""
    return tuple(
        f"{place}{name}"
        for place, table in tables.items()
        if table is not None
        for name in table.assumed
    )


def parameters_table(name: str, known: Mapping[str, Value], assumed: Collection[str]) -> Table:
    """Return the table of a model's parameters, with a note that names the assumptions."""
    return facts(known, name, [f"~ assumed: {', '.join(assumed)}"] * bool(assumed))


class AnalyticModel(Record, Generic[Parameters]):
    """A model of some parameters.

    Parameters
    ----------
    name
        Its name, which is that of its command and of its picture.
    parameters, results
        The documents of what goes in, in TOML, and of what comes out, in JSON.
    says
        Returns what the model says of parameters; it may have options of its own. The result has
        a method ``tables``, which takes the parameters.
    formulas
        Its equations.
    """

    name: str
    parameters: DocumentType[Parameters]
    results: DocumentType[Any]
    says: Callable[..., Any]
    formulas: Sequence[Formula]

    def shipped(self) -> tuple[str, ...]:
        """Return the names of the parameters that come with the package."""
        return shipped_parameters(self.parameters.format)

    def read(self, path: str | Path) -> Parameters:
        """Return the parameters in a file, or those that come with the package.

        Parameters
        ----------
        path
            A TOML file; ``-`` is standard input, and a name that ends in ``.gz`` is gunzipped.
            Where there is no such file, one of the names of :meth:`shipped`.

        Raises
        ------
        DfoptError
            With file, place and remedy, when the file does not hold valid parameters.
        """
        text = parameter_text(path, self.parameters.format)
        try:
            return self.parse(text, parameter_name(path))
        except DfoptError as error:
            raise error.in_file(shown_name(path)) from None

    def parse(self, text: str, name: str = "model") -> Parameters:
        """Return the parameters that a text describes.

        Parameters
        ----------
        text
            A TOML document.
        name
            What they are called if the document does not say it.

        Raises
        ------
        DfoptError
            With place and remedy, when the text does not describe valid parameters.
        """
        return self.parameters.from_toml(text, name=name)

    def text(self, parameters: Parameters) -> str:
        """Return the TOML document that describes parameters."""
        import tomli_w

        return tomli_w.dumps(_without_nulls(self.parameters.to_document(parameters)))

    def write(self, parameters: Parameters, path: str | Path) -> None:
        """Write parameters to a TOML file, as a whole or not at all.

        Raises
        ------
        FileError
            When the file cannot be written.
        """
        write_text(path, self.text(parameters))

    def figure(self, parameters: Parameters, **options: Any) -> Figure:
        """Return the picture of parameters; for crossovers see :func:`.plot_crossovers`."""
        plot = import_module("dfopt_models.plot")
        drawn = getattr(plot, f"plot_{self.name}")(parameters, **options)
        figure: Figure = getattr(drawn, "figure", drawn)  # some return axes
        return figure


def model_named(name: str) -> AnalyticModel[Any]:
    """Return a model by its name.

    Raises
    ------
    ModelError
        When there is no such model; the message names the existing ones.
    """
    if name not in MODELS:
        raise ModelError(f"there is no model {name!r}; known are {', '.join(MODELS)}")
    own = name.replace("-", "_")
    model: AnalyticModel[Any] = getattr(import_module(f"dfopt_models.{own}"), own.upper())
    return model


def shipped_parameters(file_format: Format) -> tuple[str, ...]:
    """Return the names of the parameter files of a format that come with the package."""
    return tuple(
        sorted(
            file.name.removesuffix(ENDING)
            for file in FOLDER.iterdir()
            if file.name.endswith(ENDING) and named_format(file.read_bytes()) is file_format
        )
    )


def parameter_text(path: str | Path, file_format: Format) -> str:
    """Return the text of a file of parameters.

    Parameters
    ----------
    path
        A file; ``-`` is standard input, and a name that ends in ``.gz`` is gunzipped. Where there
        is no such file, one of the names of :func:`shipped_parameters`.
    file_format
        The format whose names are known.

    Raises
    ------
    FileError
        When the file cannot be read; the message has the names that are known.
    """
    name = str(path)
    known = shipped_parameters(file_format)
    if name in known and not Path(name).exists():
        text: str = (FOLDER / f"{name}{ENDING}").read_text(encoding="utf-8")
        return text
    try:
        return read_text(path)
    except FileError as error:
        if Path(name).exists() or name == STANDARD_INPUT or not known:
            raise
        # Names such as mix-1 and mix-5, of which one is meant, are less alike.
        nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
        hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
        made = f"; others are made by {file_format.makers}" if file_format.makers else ""
        raise FileError(
            f"{error.problem}, or name {file_format.content} that comes with dfopt: "
            f"{', '.join(known)}{hint or made}",
            file=error.file,
        ) from None


def parameter_name(path: str | Path) -> str:
    """Return what a model is called whose file does not say it: the file's name."""
    name = Path(path).name.removesuffix(".gz").removesuffix(ENDING)
    return "model" if str(path) == STANDARD_INPUT or not name else name


def _without_nulls(value: Any) -> Any:
    """Return a value without keys that have none: infinite numbers, and TOML has no null."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
