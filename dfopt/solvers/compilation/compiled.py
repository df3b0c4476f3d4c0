"""Functions that run as machine code, or as plain Python where compiling would take longer.

Such a function keeps to integers, floats and NumPy arrays, which numba compiles. The machine
code is kept on disk, so that only the first process after an installation pays for the compiler.
With ``NUMBA_DISABLE_JIT=1`` the same functions run as plain Python.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pickle import UnpicklingError
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

from dfopt.solvers.compilation.compile_time import watch_compiler
from dfopt.solvers.interruptible import SECONDS_PER_CHECK, load_module

COMPILER = "dfopt-compiler"
"""Prefix of the names of threads that load or compile functions."""

P = ParamSpec("P")
R = TypeVar("R")


class TooSlow(Exception):  # noqa: N818 - no error, but the end of an attempt
    """Ends an attempt to do with plain Python, see :func:`as_plain_python`."""


class NotKept(Exception):  # noqa: N818 - no error, but the answer to a question
    """Says that some machine code is not on disk, see :func:`load_kept`."""


class Compiled(Generic[P, R]):
    """A function in two forms; calls take the machine code, unless plain Python is asked for.

    Parameters
    ----------
    function
        It calls nothing but other such functions, and what numba knows.
    options
        For numba.
    """

    def __init__(self, function: Callable[P, R], **options: Any) -> None:
        self._function = cast(FunctionType, function)
        self._options = options
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        form = self.plain if _attempt.is_on else self.machine
        return form(*args, **kwargs)

    @functools.cached_property
    def machine(self) -> Callable[P, R]:
        """The function as machine code; the first call compiles it, or loads it from disk."""
        return self._machine_code(self._calling("inner"))

    @functools.cached_property
    def inner(self) -> Callable[P, R]:
        """The same for calls from other machine code; Python must not call it.

        What Python needs for calls would hold a function that becomes part of its callers once
        more, with all that have become part of it. Compiling it would take longer.
        """
        if not self._options.get("forceinline"):
            return self.machine
        function = self._calling("inner")
        function.__qualname__ += ".inner"  # in files of its own
        return self._machine_code(function, no_cpython_wrapper=True)

    def _machine_code(self, function: FunctionType, **options: Any) -> Callable[P, R]:
        """Return a function that numba compiles, or loads from disk."""
        from numba import njit

        watch_compiler()
        # Without the interpreter's lock, so that other threads run beside it. And without what
        # programs in C need for calls.
        options = {"nogil": True, "no_cfunc_wrapper": True, **options, **self._options}
        dispatcher: Any = njit(**options)(function)
        if hasattr(dispatcher, "enable_caching"):  # not with NUMBA_DISABLE_JIT
            _share_among_constants(dispatcher)
            # Where no folder can be written to, every process has to compile for itself.
            with suppress(RuntimeError):
                dispatcher.enable_caching()
                _forget_what_cannot_be_read(dispatcher)
        return cast(Callable[P, R], dispatcher)

    @functools.cached_property
    def plain(self) -> Callable[P, R]:
        """The function as plain Python; every loop may end the attempt."""
        return cast(Callable[P, R], self._calling("plain", range=_attempt.range))

    def _calling(self, form: str, **others: Any) -> FunctionType:
        """Return a copy of the function that calls its fellows in the same form."""
        function = self._function
        names = {
            name: getattr(value, form)
            for name in function.__code__.co_names
            if isinstance(value := function.__globals__.get(name), Compiled)
        }
        return FunctionType(
            function.__code__, {**function.__globals__, **names, **others}, function.__name__
        )


def _forget_what_cannot_be_read(function: Any) -> None:
    """Empty the list of a function's machine code on disk if it names types that are gone.

    After an update of the sources numba would fail on it instead of compiling anew.
    """
    cache = function._cache
    try:
        cache._cache_file._load_index()
    except (AttributeError, ImportError, EOFError, UnpicklingError):
        cache.flush()


def _share_among_constants(function: Any) -> None:
    """Let calls with constants share the code of calls with variables.

    Otherwise numba compiles a function anew for each constant that another one passes to it,
    which makes a quarter of all its work here.
    """
    from numba.core.types import unliteral

    template_for = function.get_call_template

    def shared_template_for(types: tuple[Any, ...], names: dict[str, Any]) -> Any:
        return template_for(tuple(map(unliteral, types)), names)

    function.get_call_template = shared_template_for


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Return ``function`` as machine code, compiled or loaded when it is first called."""
    return Compiled(function)


def compiled_in_place(function: Callable[P, R]) -> Callable[P, R]:
    """Return ``function`` as :func:`compiled` does, for one that neither makes nor returns arrays.

    Its machine code counts no references to the arrays that it is given, and becomes part of the
    functions that call it. That makes loops of small functions over many arrays three to four
    times as fast.
    """
    return Compiled(function, _nrt=False, forceinline=True)


class _Attempt(threading.local):
    """Whether this thread makes do with plain Python, and until when."""

    is_on = False
    limit = 0.0
    next_check = 0.0
    check: Callable[[], None]

    def range(self, *limits: int) -> range:
        """Return ``range(*limits)``, and end the attempt if its time is over."""
        now = time.monotonic()
        if now >= self.next_check:
            self.next_check = now + SECONDS_PER_CHECK
            self.check()
            if time.thread_time() > self.limit:
                raise TooSlow
        return range(*limits)


_attempt = _Attempt()


@contextmanager
def as_plain_python(seconds: float, check: Callable[[], None]) -> Iterator[None]:
    """Let the functions that this thread calls run as plain Python.

    Parameters
    ----------
    seconds
        Of processor time, after which :class:`TooSlow` is raised.
    check
        Called every few milliseconds; what it raises ends the attempt too.
    """
    _attempt.limit = time.thread_time() + seconds
    _attempt.next_check = 0.0
    _attempt.check = check
    _attempt.is_on = True
    try:
        yield
    finally:
        _attempt.is_on = False


def load(first_calls: Callable[[], None], check: Callable[[], None]) -> None:
    """Wait for ``first_calls``, which load compiled functions or compile them.

    That takes seconds where nothing is kept on disk yet. Meanwhile ``check`` is called again and
    again; what it raises ends the waiting, and the compiler goes on in its thread. As long as it
    does, numba changes the filters of warnings, which are those of the whole process.
    """
    thread = ThreadPoolExecutor(1, COMPILER)
    try:
        calls = thread.submit(first_calls)
        while not calls.done():
            wait([calls], SECONDS_PER_CHECK)
            check()
        calls.result()
    finally:
        thread.shutdown(wait=False)


def load_kept(first_calls: Callable[[], None], check: Callable[[], None]) -> bool:
    """Load compiled functions from disk; return whether all that ``first_calls`` call are there.

    Nothing is compiled. See :func:`load` for the parameters.
    """
    load_module("numba.core.event", check)
    from numba.core import event

    class Refusal(event.Listener):
        def on_start(self, event: object) -> None:
            if threading.current_thread() is loading:
                raise NotKept

        def on_end(self, event: object) -> None:
            pass

    loading: threading.Thread | None = None

    def calls() -> None:
        nonlocal loading
        loading = threading.current_thread()
        first_calls()

    with event.install_listener("numba:compile", Refusal()):
        try:
            load(calls, check)
        except NotKept:
            return False
    return True
