"""Policies by name, by module and class, or from a user's file."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import ClassVar, Protocol, TypeVar

from dfopt.errors import DfoptError


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
    where, _, name = source.rpartition(":") if ":" in source else (source, "", "")
    if where.endswith(".py"):
        return _policy_in(module_of_file(where), name, where, base)
    if name:
        return _policy_in(module_named(where), name, where, base)
    if Path(where).suffix:
        raise DfoptError(
            f"{source!r} is no policy, since policies are Python programs; name a file.py, which "
            f"{guide} shows how to write"
        )
    nearest = difflib.get_close_matches(source, policies, n=1)
    known = ", ".join(policies)
    if other_names is not None and source.lower() in other_names:
        hint = f"did you mean {other_names[source.lower()]}? One"
    else:
        hint = f"did you mean {nearest[0]!r}? One" if nearest else f"known are {known}; one"
    raise DfoptError(
        f"there is no policy {source!r}; {hint} of your own is module:Class or file.py"
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
        if policy.__module__.partition(".")[0] == __name__.partition(".")[0]:
            raise
        raise _failed(policy, error) from error


def _failed(policy: type[HasName], error: BaseException) -> DfoptError:
    (what,) = traceback.format_exception_only(error)[-1:]
    what = " ".join(what.removeprefix(f"{policy.__module__}.").split())
    file = getattr(sys.modules.get(policy.__module__), "__file__", None) or ""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file
    ]
    if not frames:
        return DfoptError(
            f"the simulation fails under the policy {policy.name!r} ({what}); check what its "
            "callbacks return, and what they ask the engine for",
            file=file,
        )
    return DfoptError(
        f"the policy {policy.name!r} fails in {frames[-1].name} ({what}); correct it",
        place=f"line {frames[-1].lineno}",
        file=file,
    )


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


def _policy_in(module: ModuleType, name: str, file: str, base: type[PolicyT]) -> type[PolicyT]:
    candidates = (_as_policy(value, base) for value in vars(module).values())
    own = [
        policy
        for policy in candidates
        if policy is not None and policy.__module__ == module.__name__
    ]
    names = ", ".join(policy.__name__ for policy in own)
    if name:
        found = _as_policy(getattr(module, name, None), base)
        if found is not None:
            return _named(found)
        hint = f"there is {names}" if own else f"derive it from {base.__name__}"
        raise DfoptError(f"has no policy {name!r}; {hint}", file=file)
    if len(own) != 1:
        raise DfoptError(
            f"must define one policy, derived from {base.__name__}, but there are: "
            f"{names or 'none'}; say which with file.py:Class",
            file=file,
        )
    return _named(own[0])


def _as_policy(found: object, base: type[PolicyT]) -> type[PolicyT] | None:
    is_policy = isinstance(found, type) and issubclass(found, base) and found is not base
    return found if is_policy else None  # type: ignore[return-value]


def _named(policy: type[PolicyT]) -> type[PolicyT]:
    if not isinstance(vars(policy).get("name"), str):
        policy.name = policy.__name__
    return policy
