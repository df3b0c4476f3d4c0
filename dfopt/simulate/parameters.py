"""Parameters of policies and workloads, which are the keyword arguments of their constructors.

What a constructor says of itself is all there is: names, types and defaults come from its
signature, so that a new parameter is known to files and the command line at once.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from dfopt.errors import DfoptError, FileError
from dfopt.files.fields import choice, each, number, signed_integer, string
from dfopt.files.strict_toml import described_toml
from dfopt.files.tables import Reader, Table, flag, table, table_by_name

REQUIRED = inspect.Parameter.empty
"""The default of a parameter that has none."""

BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter.

    Parameters
    ----------
    name
        Its name.
    type
        As it is annotated; that of its default where it is not; ``Any`` where nothing is known.
    default
        Its default, or :data:`REQUIRED`.
    """

    name: str
    type: Any
    default: object = REQUIRED


def parameters_of(constructor: Callable[..., object]) -> dict[str, Parameter]:
    """Return the parameters that a class, or any callable, takes by name.

    A class whose constructor takes any others (``**parameters``) hands them to its base: it has
    the base's as well.
    """
    try:
        signature = inspect.signature(constructor, eval_str=True)
    except NameError:  # imported for annotations only
        signature = inspect.signature(constructor)
    kinds = {found.kind for found in signature.parameters.values()}
    base = _base_with_constructor(constructor)
    inherited = base if inspect.Parameter.VAR_KEYWORD in kinds else None
    return {
        **{
            name: Parameter(name=name, type=_type(found), default=found.default)
            for name, found in signature.parameters.items()
            if found.kind not in (*BY_POSITION, inspect.Parameter.VAR_KEYWORD)
        },
        **(parameters_of(inherited) if inherited is not None else {}),
    }


def _base_with_constructor(constructor: Callable[..., object]) -> type | None:
    """Return the base that the constructor of a class calls, if there is one of its own."""
    if not isinstance(constructor, type):
        return None
    having = [one for one in constructor.__mro__[:-1] if "__init__" in vars(one)]
    return having[1] if len(having) > 1 else None


def checked_parameters(constructor: Callable[..., object], values: object) -> Table:
    """Return values for the parameters of a constructor, each of its type.

    Parameters
    ----------
    constructor
        A class, or any callable.
    values
        A table, from a file or the command line.

    Raises
    ------
    FileError
        With the name, when a parameter is unknown, missing or of another type.
    """
    known = parameters_of(constructor)
    if isinstance(values, dict) and values and not known:
        raise FileError("is unknown; there are no parameters, remove it", place=next(iter(values)))
    required = tuple(name for name, one in known.items() if one.default is REQUIRED)
    checked: Table = table(readers_of(constructor), required)(values)
    return checked


def readers_of(constructor: Callable[..., object]) -> dict[str, Reader]:
    """Return a reader of each parameter of a constructor."""
    return {name: _reader_of(one.type) for name, one in parameters_of(constructor).items()}


def made(constructor: Callable[..., Any], values: Mapping[str, object]) -> Any:
    """Return what a constructor makes of values for its parameters.

    Raises
    ------
    DfoptError
        With the name of the parameter, or what the constructor has to say.
    """
    checked = checked_parameters(constructor, dict(values))
    try:
        return constructor(**checked)
    except (TypeError, ValueError) as error:  # of somebody's own
        raise DfoptError(f"does not take these parameters ({error}); correct them") from error


def _type(found: inspect.Parameter) -> Any:
    hint = found.annotation
    if hint is inspect.Parameter.empty or isinstance(hint, str):
        return Any if found.default in (REQUIRED, None) else type(found.default)
    return hint


PLAIN: dict[Any, Reader] = {int: signed_integer, float: number, bool: flag, str: string}


def _reader_of(hint: Any) -> Reader:
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return choice(hint)
    arguments, origin = typing.get_args(hint), typing.get_origin(hint)
    if origin is Literal:
        return _one_of(arguments)
    if origin in (typing.Union, types.UnionType):
        return _any_of([_reader_of(one) for one in arguments if one is not types.NoneType])
    if isinstance(origin, type) and arguments:
        return _reader_of_many(origin, arguments)
    return PLAIN.get(hint, _as_it_is)


def _reader_of_many(origin: type, arguments: tuple[Any, ...]) -> Reader:
    if issubclass(origin, Mapping):
        return table_by_name(_reader_of(arguments[-1]))
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _row([_reader_of(one) for one in arguments])
    inner = _reader_of(arguments[0])
    return lambda value: each("", inner, value)


def _as_it_is(value: Any) -> Any:
    """Leave a value for the constructor to check."""
    return value


def _one_of(words: tuple[object, ...]) -> Reader:
    listed = ", ".join(map(repr, words))

    def read(value: object) -> object:
        if value not in words or isinstance(value, bool):
            raise FileError(f"must be one of {listed}, not {described_toml(value)}")
        return value

    return read


def _any_of(readers: list[Reader]) -> Reader:
    def read(value: object) -> object:
        first: DfoptError | None = None
        for one in readers:
            try:
                return one(value)
            except DfoptError as error:
                first = first or error
        assert first is not None
        raise first

    return read


def _row(readers: list[Reader]) -> Reader:
    def read(value: object) -> tuple[object, ...]:
        items = each("", _as_it_is, value)
        if len(items) != len(readers):
            raise FileError(f"must have {len(readers)} entries, not {len(items)}")
        return tuple(one(item) for one, item in zip(readers, items, strict=True))

    return read
