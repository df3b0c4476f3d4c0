"""Parameters of policies and workloads, which are the keyword arguments of their constructors.

Names, types and defaults come from the constructor's signature. So files and the command line know
a new parameter at once.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from typing import Any, Literal

from dfopt.errors import DfoptError, FileError
from dfopt.files.fields import (
    Reader,
    boolean,
    choice,
    each,
    number,
    signed_integer,
    string,
    table,
    table_by_name,
)
from dfopt.files.strict_toml import described_toml

REQUIRED = inspect.Parameter.empty
"""Stands for the default of a parameter that must be given."""

NOT_BY_NAME = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
)


def parameters_of(constructor: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """Return the parameters that a class, or any callable, takes by name.

    A parameter without an annotation has the type of its default. If the constructor of a class
    takes any other parameters (``**parameters``), it passes them to its base. Then the class has
    the parameters of the base as well.
    """
    try:
        signature = inspect.signature(constructor, eval_str=True)
    except NameError:  # a type is imported for annotations only
        signature = inspect.signature(constructor)
    parameters = signature.parameters.values()
    found = {
        parameter.name: _with_type(parameter)
        for parameter in parameters
        if parameter.kind not in NOT_BY_NAME
    }
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        base = _base_with_constructor(constructor)
        found |= parameters_of(base) if base is not None else {}
    return found


def _with_type(parameter: inspect.Parameter) -> inspect.Parameter:
    hint, default = parameter.annotation, parameter.default
    if hint is not inspect.Parameter.empty and not isinstance(hint, str):
        return parameter
    return parameter.replace(annotation=Any if default in (REQUIRED, None) else type(default))


def _base_with_constructor(constructor: Callable[..., object]) -> type | None:
    """Return the base class that the constructor of a class calls, or None."""
    if not isinstance(constructor, type):
        return None
    with_constructor = [base for base in constructor.__mro__[:-1] if "__init__" in vars(base)]
    return with_constructor[1] if len(with_constructor) > 1 else None


def made(constructor: Callable[..., Any], values: Mapping[str, object]) -> Any:
    """Return the object that a constructor makes from the values of a table.

    Raises
    ------
    DfoptError
        With the name, when a parameter is unknown, missing or of another type; or when the
        constructor refuses the values.
    """
    parameters = parameters_of(constructor)
    if values and not parameters:
        raise FileError("is unknown; there are no parameters, remove it", place=next(iter(values)))
    required = tuple(name for name, one in parameters.items() if one.default is REQUIRED)
    checked = table(readers_of(constructor), required)(dict(values))
    try:
        return constructor(**checked)
    except (TypeError, ValueError) as error:  # raised by a user's constructor
        raise DfoptError(f"does not take these parameters ({error}); correct them") from error


def readers_of(constructor: Callable[..., object]) -> dict[str, Reader]:
    """Return a reader of each parameter of a constructor."""
    return {
        name: _reader_of(parameter.annotation)
        for name, parameter in parameters_of(constructor).items()
    }


def anything(value: Any) -> Any:
    """Return a value as it is; it is checked elsewhere."""
    return value


PLAIN: dict[Any, Reader] = {int: signed_integer, float: number, bool: boolean, str: string}


def _reader_of(hint: Any) -> Reader:
    """Return the reader of values of a type; the constructor checks everything else."""
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return choice(hint)
    arguments, origin = typing.get_args(hint), typing.get_origin(hint)
    if origin is Literal:
        return _one_of(arguments)
    if origin in (typing.Union, types.UnionType):
        return _any_of(
            [_reader_of(argument) for argument in arguments if argument is not types.NoneType]
        )
    if isinstance(origin, type) and arguments:
        return _reader_of_many(origin, arguments)
    return PLAIN.get(hint, anything)


def _reader_of_many(origin: type, arguments: tuple[Any, ...]) -> Reader:
    if issubclass(origin, Mapping):
        return table_by_name(_reader_of(arguments[-1]))
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _row([_reader_of(argument) for argument in arguments])
    return partial(each, "", _reader_of(arguments[0]))


def _one_of(words: tuple[object, ...]) -> Reader:
    listed = ", ".join(map(repr, words))

    def read(value: object) -> object:
        if value not in words or isinstance(value, bool):
            raise FileError(f"must be one of {listed}, not {described_toml(value)}")
        return value

    return read


def _any_of(readers: list[Reader]) -> Reader:
    """Return a reader that tries others in turn; if all fail, the error of the first counts."""

    def read(value: object) -> object:
        errors = []
        for reader in readers:
            try:
                return reader(value)
            except DfoptError as error:
                errors.append(error)
        raise errors[0]

    return read


def _row(readers: list[Reader]) -> Reader:
    def read(value: object) -> tuple[object, ...]:
        items = each("", anything, value)
        if len(items) != len(readers):
            raise FileError(f"must have {len(readers)} entries, not {len(items)}")
        return tuple(reader(item) for reader, item in zip(readers, items, strict=True))

    return read
