"""Tables where there is little room."""

import pytest

from dfopt_cli.printing import print_rich
from dfopt_cli.tables import SHORTEST_NAME, duration, pairs, plain_table

NUMBERS = ("22,200,000", "600,000", "37.00")


def policies(*names):
    table = plain_table()
    table.add_column("policy", overflow="fold")
    for heading in ("realised", "bound", "ratio"):
        table.add_column(heading, justify="right")
    for name in names:
        table.add_row(name, *NUMBERS)
    return table


@pytest.fixture
def printed(monkeypatch, capsys):
    def lines(table, columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        print_rich(table)
        return capsys.readouterr().out.splitlines()

    return lines


@pytest.mark.parametrize("columns", [1, 20, 40, 60])
def test_no_number_loses_its_end_where_it_is_narrow(printed, columns):
    _, first, second = printed(policies("data-affinity", "fcfs"), columns)
    assert first.split() == ["data-affinity", *NUMBERS]
    assert second.split() == ["fcfs", *NUMBERS]


def test_long_names_are_broken_before_the_table_gets_wider(printed):
    name = "n" * 50
    assert len(printed(policies(name), 100)) == 2
    folded = printed(policies(name), 60)
    assert max(map(len, folded)) <= 60
    assert "".join(line.split()[0] for line in folded[1:]) == name
    narrow = printed(policies(name), 40)
    assert {len(line.split()[0]) for line in narrow[1:-1]} == {SHORTEST_NAME}


def test_text_is_broken_at_the_width_of_the_terminal(printed):
    lines = printed(pairs({"bound": "no schedule costs less " * 5}), 60)
    assert 40 < max(map(len, lines)) <= 60


@pytest.mark.parametrize("columns", [0, 1])
def test_a_terminal_without_width_gets_everything(printed, columns):
    lines = printed(pairs({"model": "mix 5"}), columns)
    assert [line.split() for line in lines] == [["model", "mix", "5"]]


@pytest.mark.parametrize(
    ("length", "unit", "shown"),
    [
        (0, "ns", "0"),
        (999, "ns", "999 ns"),
        (1000, "ns", "1 µs"),
        (2_234_567, "ns", "2.23 ms"),
        (32.4, "ms", "32.4 ms"),
        (7_200, "s", "7,200 s"),
        (0.25, "us", "250 ns"),
        (1234.5, "cycles", "1,234 cycles"),
        (7, None, "7"),
    ],
)
def test_times_have_three_digits(length, unit, shown):
    assert duration(length, unit) == shown
