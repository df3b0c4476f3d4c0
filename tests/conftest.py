"""Fixtures and settings for all tests."""

import gc
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The time to draw or to try an example says nothing about correctness.
settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Hypothesis has a profile for CI, which holds that too and fixes the seed. Half as many examples
# are enough there: they are the same each time, and other runs of the tests draw new ones.
settings.register_profile("same-examples", settings.get_profile("ci"), max_examples=50)
settings.load_profile("same-examples" if "CI" in os.environ else "local")

# A process that a script starts in the background ignores Ctrl-C, and so do its children. With
# a handler here, the processes that tests start have the default again.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHOWN_DIFFERENTLY = (
    "LINES", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "PY_COLORS",
    "GITHUB_ACTIONS", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "TERMINAL_WIDTH",
    "_TYPER_FORCE_DISABLE_TERMINAL",
)  # fmt: skip
"""Variables by which users or their CI have commands show things in another way."""


@pytest.hookimpl(trylast=True)  # pytest itself may heed them
def pytest_configure() -> None:
    """Let commands show the same wherever the tests run; some variables are read at import.

    A process that runs tests beside others keeps to one processor, and so does what it starts.
    Otherwise each command would start a process for every processor, which take a second each to
    begin and slow each other down.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None and hasattr(os, "sched_setaffinity"):
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {processors[int(worker.removeprefix("gw")) % len(processors)]})
    for name in SHOWN_DIFFERENTLY:
        os.environ.pop(name, None)
    os.environ["COLUMNS"] = "80"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Let two processes share a processor: tests of commands wait for half of their time."""
    return 2 * len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(2))


ROOT = Path(__file__).parents[1]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is collected out of the garbage collector, which would walk it over and over."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded traces and instances beside the checkout."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip(f"needs the recorded data in {folder}, which is not part of the project")
    return folder
