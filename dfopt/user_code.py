"""Code of users: policies by name, classes by module or file, and what their errors say."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Protocol, TypeVar

from dfopt.checks import did_you_mean
from dfopt.errors import DfoptError

PYTHON = ".py"

OWN_PACKAGES = ("dfopt", "dfopt_models")
"""An error that code of these raises is a defect."""


class HasName(Protocol):
    """A policy of any simulator: it has a name."""

    name: ClassVar[str]


PolicyT = TypeVar("PolicyT", bound=HasName)


def policy_named(
    source: str,
    *,
    base: type[PolicyT],
    policies: Mapping[str, type[PolicyT]],
    guide: str,
    other_names: Mapping[str, str] | None = None,
) -> type[PolicyT]:
    """Return a policy.

    Parameters
    ----------
    source
        The name of one of ``policies``; or ``module:Class``, where the module is imported as
        from the current folder; or ``file.py``, which must define one policy, or
        ``file.py:Class``.
    base
        The base class of all policies of the simulator.
    policies
        The policies that come with the simulator, by name.
    guide
        The page that says how to write one.
    other_names
        What else such policies are called, and which is meant.

    Raises
    ------
    DfoptError
        When there is no such policy, or its code cannot be loaded.
    """
    if source in policies:
        return policies[source]
    where, _, name = source_parts(source)
    if name or where.endswith(PYTHON):

        def is_policy(found: object) -> bool:
            return isinstance(found, type) and issubclass(found, base) and found is not base

        own: type[PolicyT] = class_in(
            source,
            is_policy,
            "policy",
            f"derived from {base.__name__}",
            remedy=f"derive it from {base.__name__}",
        )
        if not isinstance(vars(own).get("name"), str):
            own.name = own.__name__
        return own
    if Path(where).suffix:
        raise DfoptError(
            f"{source!r} is no policy, since policies are Python programs; name a file.py, which "
            f"{guide} shows how to write"
        )
    meant = (other_names or {}).get(source.lower())
    hint = f"did you mean {meant}?" if meant else did_you_mean(source, policies)
    raise DfoptError(
        f"there is no policy {source!r}; {hint} (one of your own is module:Class or file.py)"
    )


@contextmanager
def naming_policy(policy: type[HasName]) -> Iterator[None]:
    """Let errors that a user's policy raises name the policy, its file and the line.

    An error that a policy of dfopt raises is a defect of dfopt and keeps its traceback. What a
    policy prints goes to standard error, since standard output is for figures.

    Raises
    ------
    DfoptError
        When anything else is raised; a ``DfoptError`` is left as it is.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except DfoptError:
        raise
    except (Exception, SystemExit) as error:  # whatever the code of others raises
        if policy.__module__.partition(".")[0] in OWN_PACKAGES:
            raise
        file = file_of(policy)
        raise error_in("policy", policy.name, file, error) or DfoptError(
            f"the simulation fails under the policy {policy.name!r} ({said(error)}); check what "
            "its callbacks return, and what they ask the engine for",
            file=file,
        ) from error


def error_in(noun: str, name: str, file: str, error: BaseException) -> DfoptError | None:
    """Return an error that names the user's code in a file, if that raised it or called what did.

    It names the line and the function, too. None if the file has nothing to do with it.
    """
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file
    ]
    if not frames:
        return None
    return DfoptError(
        f"the {noun} {name!r} fails in {frames[-1].name} ({said(error)}); correct it",
        place=f"line {frames[-1].lineno}",
        file=file,
    )


def said(error: BaseException) -> str:
    """Return what an error says on one line."""
    if isinstance(error, DfoptError):
        return str(error)
    said = " ".join(traceback.format_exception_only(error)[-1].split())
    return said.removeprefix(f"{type(error).__module__}.")


def file_of(own: type[Any]) -> str:
    """Return the file that a class is defined in, or an empty text."""
    return getattr(sys.modules.get(own.__module__), "__file__", None) or ""


def source_parts(source: str) -> tuple[str, str, str]:
    """Return file or module, colon, and class."""
    return source.rpartition(":") if ":" in source else (source, "", "")


def class_in(
    source: str, fits: Callable[[object], bool], noun: str, what: str, *, remedy: str
) -> Any:
    """Return the class that a user names.

    Parameters
    ----------
    source
        ``module:Class``, where the module is imported as from the current folder; or ``file.py``,
        which must define one such class; or ``file.py:Class``.
    fits
        Whether an object is such a class.
    noun, what, remedy
        What errors call it, what it has to be, and what to do where there is none.

    Raises
    ------
    DfoptError
        When there is no such class, or the code cannot be loaded.
    """
    where, _, name = source_parts(source)
    module = module_of_file(where) if where.endswith(PYTHON) else module_named(where)
    own = {
        found.__name__: found
        for found in vars(module).values()
        if fits(found) and found.__module__ == module.__name__
    }
    names = ", ".join(own)
    if name:
        found = getattr(module, name, None)
        if fits(found):
            return found
        hint = f"there is {names}" if own else remedy
        raise DfoptError(f"has no {noun} {name!r}; {hint}", file=where)
    if len(own) != 1:
        raise DfoptError(
            f"must define one {noun}, {what}, but there are: {names or 'none'}; say which with "
            "file.py:Class",
            file=where,
        )
    return next(iter(own.values()))


def module_named(name: str) -> ModuleType:
    """Return a module that is imported as from the current folder."""
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        with redirect_stdout(sys.stderr):
            return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # whatever the code of others raises
        raise _not_loaded(name, error) from error
    finally:
        sys.path.remove(here)


def module_of_file(path: str) -> ModuleType:
    """Return the module in a file of Python."""
    if not Path(path).is_file():
        raise DfoptError("there is no such file; check its name", file=path)
    spec = importlib.util.spec_from_file_location(f"dfopt_own_{Path(path).stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever the code of others raises
        raise _not_loaded(path, error) from error
    return module


def _not_loaded(file: str, error: BaseException) -> DfoptError:
    return DfoptError(f"cannot be loaded ({type(error).__name__}: {error}); correct it", file=file)
