"""Builds the core: with the machine's C++ compiler, or else with the one from the package index.

Installing dfopt runs it. Run as a program, it builds the core anew where its sources have changed:
in its place, or to the file that is named. ``CXX`` names a compiler, ``CXXFLAGS`` has more options.
With ``--needs-compiler`` it only says, by its exit code, whether it needs the one from the index.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = Path(__file__).parent
LIBRARY = SOURCES / "libcore.so"
OBJECTS = SOURCES.parents[1] / "build" / "core"

OPTIONS = [
    "-std=c++20",
    "-O3",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-ffp-contract=off",  # otherwise compilers round differently, and seeds lead elsewhere
    "-Wall",
    "-Wextra",
]
LINK = ["-shared", "-Wl,--gc-sections", "-Wl,-z,defs"]

FROM_INDEX = [sys.executable, "-m", "ziglang", "c++", "-mcpu=baseline", "-DDFOPT_WITHOUT_LIBRARY"]
"""The compiler from the index: for any CPU of the platform, and without its C++ library."""

INCLUDE = re.compile(r'^#include "(.+)"', re.MULTILINE)

TRIAL = """
#include <algorithm>
#include <span>
#include <vector>
int least(std::span<const int> numbers) { return std::ranges::min(numbers); }
"""


class CoreBuilder(BuildHookInterface[Any]):
    """Puts the core into wheels, and beside the sources of an editable installation."""

    def dependencies(self) -> list[str]:
        """Return what the build needs on this machine beside what pyproject.toml names."""
        return [] if machine_compiler() else ["ziglang"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the core; a wheel then fits every Python of this platform."""
        build()
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
        build_data["pure_python"] = False
        build_data["artifacts"].append(f"/{LIBRARY.relative_to(SOURCES.parents[1])}")


def machine_compiler() -> list[str] | None:
    """Return the command of the machine's C++ compiler; None if none can build the core."""
    given = shlex.split(os.environ.get("CXX", ""))
    for compiler in [given] if given else [["c++"], ["g++"], ["clang++"]]:
        if shutil.which(compiler[0]) and can_build(compiler):
            return compiler
    if given:
        sys.exit(f"CXX={shlex.join(given)} cannot build C++20: name another compiler, or none")
    return None


def can_build(compiler: list[str]) -> bool:
    """Return whether a compiler knows enough of C++20, and finds its library."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "trial.cpp")
        source.write_text(TRIAL)
        command = [*compiler, *OPTIONS, "-shared", str(source), "-o", f"{folder}/trial.so"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def build(library: Path = LIBRARY) -> None:
    """Compile the sources that have changed, several at a time, and link all."""
    compiler, link = machine_compiler(), LINK
    if compiler is None:
        compiler, link = FROM_INDEX, [*LINK, "-nostdlib++"]
    more = shlex.split(os.environ.get("CXXFLAGS", ""))
    command = [*compiler, *OPTIONS, *more]
    if not more:
        link = [*link, "-Wl,-s"]  # without names for a debugger
    OBJECTS.mkdir(parents=True, exist_ok=True)

    def compiled(source: Path) -> Path:
        # An object is named by all that it is made of. So it is compiled once, whatever changes
        # beside it, and never fits another compiler or other options by mistake.
        parts = "\0".join([*command, *texts(source)])
        made = OBJECTS / f"{source.stem}-{hashlib.sha256(parts.encode()).hexdigest()[:16]}.o"
        if not made.exists():
            run_to(made, [*command, "-c", str(source)])
        return made

    with ThreadPoolExecutor(os.cpu_count()) as workers:
        objects = list(workers.map(compiled, sorted(SOURCES.glob("**/*.cpp"))))
    run_to(library, [*command, *link, *map(str, objects)])


def texts(source: Path) -> Iterator[str]:
    """Yield the text of a source, and those of the core's headers that it includes."""
    left, seen = [source], set()
    while left:
        file = left.pop().resolve()
        if file not in seen:
            seen.add(file)
            text = file.read_text("utf-8")
            left += [file.parent / name for name in INCLUDE.findall(text)]
            yield text


def run_to(made: Path, command: list[str]) -> None:
    """Run a command that writes a file, which appears when it is whole."""
    draft = made.with_name(f"{made.name}.{os.getpid()}")
    subprocess.run([*command, "-o", str(draft)], check=True)
    draft.replace(made)


if __name__ == "__main__":
    if "--needs-compiler" in sys.argv:
        sys.exit(machine_compiler() is not None)
    build(*map(Path, sys.argv[1:]))
