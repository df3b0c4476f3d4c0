"""Compiled functions: loading them, and running them as plain Python."""

import threading
from pathlib import Path
from typing import NamedTuple

import pytest

from dfopt.solvers.compilation.compiled import (
    COMPILER,
    Compiled,
    TooSlow,
    as_plain_python,
    compiled,
    compiled_in_place,
    load,
    load_kept,
)


def test_the_compiler_goes_on_when_nothing_waits_for_it_any_more() -> None:
    may_end = threading.Event()

    def first_calls() -> None:
        may_end.wait(60)

    def check() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        load(first_calls, check)
    (compiler,) = (one for one in threading.enumerate() if one.name.startswith(COMPILER))
    may_end.set()
    compiler.join(60)
    assert not compiler.is_alive()


def test_what_the_compiler_raises_is_raised() -> None:
    def first_calls() -> None:
        raise LookupError("no such type")

    with pytest.raises(LookupError, match="no such type"):
        load(first_calls, lambda: None)


@compiled
def doubled(number: int) -> int:
    total = 0
    for _ in range(2):
        total += number
    return total


@compiled
def quadrupled(number: int) -> int:
    return doubled(doubled(number))


def test_nothing_is_compiled_where_only_what_is_on_disk_shall_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numba

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def first_calls() -> None:
        assert quadrupled(3) == 12

    assert not load_kept(first_calls, lambda: None)
    load(first_calls, lambda: None)
    assert load_kept(first_calls, lambda: None)


@compiled_in_place
def tripled(number: int) -> int:
    return 3 * number


@compiled
def ninefold(number: int) -> int:
    return tripled(tripled(number))


def test_what_is_part_of_others_has_a_form_for_python_only_if_python_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numba

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def kept() -> set[str]:
        return {path.name.split("-")[0].split(".", 1)[1] for path in tmp_path.rglob("*.nbi")}

    assert ninefold(2) == 18
    assert kept() == {"ninefold", "tripled.inner"}
    assert tripled(2) == 6
    assert kept() == {"ninefold", "tripled.inner", "tripled"}


def test_plain_python_gives_the_same() -> None:
    with as_plain_python(60, lambda: None):
        assert quadrupled(3) == 12
        assert type(quadrupled(2**70)) is int  # no machine integer holds it


def test_every_loop_ends_an_attempt_that_takes_too_long() -> None:
    with pytest.raises(TooSlow), as_plain_python(0, lambda: None):
        quadrupled(3)


def test_every_loop_of_an_attempt_heeds_the_end_of_the_search() -> None:
    def check() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError), as_plain_python(60, check):
        quadrupled(3)


class Gone(NamedTuple):
    number: int


@compiled
def number_of(gone: Gone) -> int:
    return gone.number


def test_machine_code_for_types_that_are_gone_is_compiled_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numba

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert number_of(Gone(3)) == 3
    (index,) = tmp_path.rglob("*number_of*.nbi")
    index.write_bytes(index.read_bytes().replace(b"Gone", b"Went"))
    assert Compiled(number_of.__wrapped__)(Gone(4)) == 4  # type: ignore[attr-defined]
