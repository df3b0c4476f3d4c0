"""Parameters of policies and workloads, which are the keyword arguments of their constructors.

Names, types and defaults come from the constructor's signature, which a data class has from its
fields. So files and the command line know a new parameter at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, get_type_hints

from dfopt.errors import DfoptError, FileError
from dfopt.type_reader import Read, at, read_keys, reader

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
    known = {name: (name, reader(one.annotation), False) for name, one in parameters.items()}
    checked = read_keys(dict(values), known, required, "it is required")
    try:
        return constructor(**checked)
    except (TypeError, ValueError) as error:  # raised by a user's constructor
        raise DfoptError(f"does not take these parameters ({error}); correct them") from error


def check_fields(holder: Any) -> None:
    """Check the fields of a data class by their types, while it is made.

    Raises
    ------
    DfoptError
        With the name of the field, at the first wrong value.
    """
    for name, read in _field_readers(holder.__class__).items():
        setattr(holder, name, at(name, read, getattr(holder, name)))


@cache
def _field_readers(cls: type[Any]) -> dict[str, Read]:
    for base in cls.__mro__:
        if "__dataclass_fields__" in vars(base):
            try:
                types = get_type_hints(base, include_extras=True)
            except NameError:  # a type is imported for annotations only
                continue
            return {each.name: reader(types[each.name]) for each in fields(base) if each.init}
    return {}
