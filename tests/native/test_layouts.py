"""The rows of NumPy's arrays lie in memory as the structures of the core do."""

import importlib
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "dfopt" / "core"

ROWS = (
    ("contents", "TASK_TYPE", "contents/contents.hpp", "contents::TaskType"),
    ("contents", "CPU_START", "contents/contents.hpp", "contents::CpuStart"),
    ("contents", "HELD", "contents/annealing.hpp", "contents::HeldByCpu"),
    ("orders", "RUN", "orders/segment_exchange.hpp", "orders::Run"),
    ("lines", "LINE", "lines/caches.hpp", "lines::Line"),
    ("lines", "LEDGER", "lines/caches.hpp", "lines::Ledger"),
    ("lines", "TIMES", "lines/caches.hpp", "lines::Times"),
    ("trace", "LIMITS", "trace/section.hpp", "beam::Limits"),
    ("trace", "SETTINGS", "trace/children.hpp", "beam::Settings"),
    ("trace", "PLACEMENT", "trace/dispatch.hpp", "Placement"),
    ("trace", "DISPATCH", "trace/dispatch.hpp", "Dispatch"),
    ("trace", "BOUNDS", "annealing/timed_orders.hpp", "annealing::Bounds"),
    ("trace", "CUT_TIME", "trace/dispatch.hpp", "Cut"),
    ("trace", "SLOTS", "trace/prices.hpp", "prices::Slots"),
    ("pricing", "FRAGMENT", "pricing/priced_tasks.hpp", "pricing::Fragment"),
    ("pricing", "TASK_CLASS", "pricing/priced_tasks.hpp", "pricing::TaskClass"),
    ("pricing", "CLASS_PRICE", "pricing/priced_tasks.hpp", "pricing::ClassPrice"),
    ("pricing", "TOKEN_PRICE", "pricing/priced_tasks.hpp", "pricing::TokenPrice"),
    ("pricing", "FRAGMENT_PRICE", "pricing/priced_tasks.hpp", "pricing::FragmentPrice"),
    ("pricing", "BONUS", "pricing/priced_tasks.hpp", "pricing::Bonus"),
    ("pricing", "CPU_FRAGMENT", "pricing/contents.hpp", "pricing::CpuFragment"),
    ("pricing", "CONTENT", "pricing/contents.hpp", "pricing::Content"),
    ("pricing", "VISIT", "pricing/contents.hpp", "pricing::PaidVisit"),
    ("pricing", "HELD", "pricing/fragment_knapsack.hpp", "pricing::Held"),
    ("waiting", "TASK", "waiting/instance.hpp", "waiting::Task"),
    ("waiting", "STATE", "waiting/instance.hpp", "waiting::State"),
    ("waiting", "DISPATCH", "waiting/instance.hpp", "waiting::Dispatch"),
    ("cpu_path", "SERVICE", "cpu_path/path.hpp", "cpu_path::Service"),
    ("cpu_path", "STEP", "cpu_path/path.hpp", "cpu_path::Step"),
    ("cpu_path", "FRAGMENT", "cpu_path/path.hpp", "cpu_path::Fragment"),
    ("cpu_path", "BLOCK", "cpu_path/path.hpp", "cpu_path::Block"),
    ("cpu_path", "CONDITION", "cpu_path/path.hpp", "cpu_path::Condition"),
)
"""Modules of dfopt.native, their types of rows, headers of the core, and the structures there."""


def assertions() -> str:
    """Return C++ that compiles if all fields lie where NumPy has them."""
    lines = ["#include <cstddef>"]
    for module, name, header, structure in ROWS:
        dtype = getattr(importlib.import_module(f"dfopt.native.{module}"), name)
        lines.append(f'#include "{CORE / header}"')
        lines.append(f"static_assert(sizeof(dfopt::{structure}) == {dtype.itemsize});")
        for field, (kind, offset) in dtype.fields.items():
            lines.append(f"static_assert(offsetof(dfopt::{structure}, {field}) == {offset});")
            lines.append(f"static_assert(sizeof(dfopt::{structure}::{field}) == {kind.itemsize});")
    return "\n".join(lines)


@pytest.mark.skipif(not CORE.exists(), reason="the core's sources are not part of the wheel")
def test_every_type_of_rows_is_compared() -> None:
    compared = {(module, name) for module, name, *_ in ROWS}
    for file in sorted((ROOT / "dfopt" / "native").glob("*.py")):
        module = importlib.import_module(f"dfopt.native.{file.stem}")
        for name, value in vars(module).items():
            if name.isupper() and isinstance(value, np.dtype):
                assert (file.stem, name) in compared


@pytest.mark.skipif(not CORE.exists(), reason="the core's sources are not part of the wheel")
def test_fields_lie_where_numpy_has_them(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    from dfopt.core.build import FROM_INDEX, machine_compiler

    source = tmp_path / "layout.cpp"
    source.write_text(assertions())
    compiler = machine_compiler() or FROM_INDEX
    command = [*compiler, "-std=c++20", "-Wno-invalid-offsetof", "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
