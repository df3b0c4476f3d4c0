"""The benchmarks' report: printed as Markdown at the end, and kept in .cache/benchmarks.

Run them with ``make bench``, or one of them with ``python -m pytest tests/benchmarks/test_X.py``.
Every figure stands beside a yardstick from the same run, since seconds alone say little about a
machine that one does not know. The assertions are the project's own targets.
"""

from collections.abc import Callable

import pytest

from tests.benchmarks.report import Table, machine, save

TABLES = pytest.StashKey[dict[str, Table]]()


@pytest.fixture(scope="session")
def report(pytestconfig: pytest.Config) -> Callable[[Table], None]:
    """Keeps a table in place of an earlier one of this name, also if the test fails."""
    tables = pytestconfig.stash.setdefault(TABLES, {})

    def keep(table: Table) -> None:
        save(table)
        tables[table.name] = table

    return keep


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    tables = config.stash.get(TABLES, {})
    if not tables:
        return
    terminalreporter.section("benchmarks")
    terminalreporter.write_line(f"Measured on {machine()}.\n")
    for table in tables.values():
        terminalreporter.write_line(table.markdown())
