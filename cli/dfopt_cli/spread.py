"""Options that several commands share, written once as the fields of a dataclass."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

Result = TypeVar("Result")


def with_spread_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Return a command that takes the fields of its dataclass parameters as options.

    Typer sees every field as a parameter of its own, in the place of the dataclass; the command
    gets the dataclass.
    """
    given = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    parts: dict[str, tuple[Any, tuple[str, ...]]] = {}
    for parameter in given.parameters.values():
        options = parameter.annotation
        if not is_dataclass(options):
            parameters.append(parameter)
            continue
        hints = get_type_hints(options, include_extras=True)
        names = tuple(field.name for field in fields(options))
        parts[parameter.name] = (options, names)
        for field in fields(options):
            default = field.default if field.default_factory is MISSING else field.default_factory()
            parameters.append(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=inspect.Parameter.empty if default is MISSING else default,
                    annotation=hints[field.name],
                )
            )

    @functools.wraps(command)
    def spread(**values: Any) -> Result:
        for name, (options, names) in parts.items():
            values[name] = options(**{key: values.pop(key) for key in names})
        return command(**values)

    spread.__signature__ = given.replace(parameters=parameters)  # type: ignore[attr-defined]
    spread.__annotations__ = {one.name: one.annotation for one in parameters}
    del spread.__wrapped__
    return spread
