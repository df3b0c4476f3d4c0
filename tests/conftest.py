"""What every test may ask for."""

import os
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes depends on the machine, and says nothing about correctness.
# (In CI Hypothesis loads a profile of its own, which also fixes the seed.)
settings.register_profile("local", deadline=None)
if "CI" not in os.environ:
    settings.load_profile("local")

ROOT = Path(__file__).parents[1]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Wait for compilers that a test has left at work.

    They change the filters of warnings, so that in the next test one would come through that is
    ignored there.
    """
    compiled = sys.modules.get("dfopt.solvers.compiled")
    for thread in threading.enumerate() if compiled else ():
        if thread.name.startswith(compiled.COMPILER):
            thread.join()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded traces and instances beside the checkout."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip(f"needs the recorded data in {folder}, which is not part of the project")
    return folder
