"""Compiles the loops that run as machine code, which are then kept on disk.

Processes that run tests beside each other would otherwise all compile what none of them finds
there.
"""

import pkgutil
import sys
from importlib.util import find_spec
from pathlib import Path

CALLERS: tuple[str, ...] = ()
"""Functions that call the loops of a method once."""


def version_of_loops() -> list[object]:
    """Return what changes when loops have to be compiled anew."""
    package = find_spec("dfopt")
    assert package is not None
    assert package.origin is not None
    sources = Path(package.origin).parent.rglob("*.py")
    loops = [source for source in sources if "\n@compiled" in source.read_text("utf-8")]
    return [sys.version, max((source.stat().st_mtime_ns for source in loops), default=0)]


def compile_loops() -> None:
    """Compile what takes long to compile."""
    for caller in CALLERS:
        pkgutil.resolve_name(caller)()


if __name__ == "__main__":
    compile_loops()
