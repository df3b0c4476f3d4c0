"""Readers of values, which follow from types: those of the fields of structs, above all.

Errors name the place of the value.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date, time
from functools import cache, partial
from math import log2
from operator import ge, gt, le, lt
from typing import Any, TypeVar

from msgspec import NODEFAULT, Struct, inspect

from dfopt.checks import LARGEST_TOTAL, check_integer, check_name, described
from dfopt.errors import DfoptError, FileError, InstanceError

OTHER_WORDS = {
    "cpus": "cpu core machine processor gpu pod bin m",
    "tasks": "job thread burst request item n",
    "df": "fragment data_fragment data family class batch_family model adapter colour color setup",
    "type": "task_type kind setup setup_state family class batch_family model adapter colour color",
    "exec": "processing_time execution_time run_time duration length time p p_j",
    "release": "release_date release_time ready ready_time arrival arrival_time r r_j",
    "after": "predecessor precedence depends_on requires",
    "count": "copies multiplicity number",
    "id": "name label",
    "fill": "setup setup_time setup_cost load_time",
    "switch": "setup setup_time setup_cost changeover cost matrix s_ij",
    "makespan": "cmax c_max span completion_time",
    "max-penalty": "max maximum bottleneck max_setup",
    "total-penalty": "total sum total_setup total_setup_time",
}
"""For each key or word the words that may stand in its place, in the singular."""


def keys_called(word: str, known: Collection[str]) -> list[str]:
    """Return those of the known words that somebody may call by this one, or by its plural."""
    plain = word.lower().replace("-", "_").replace(" ", "_")
    forms = {plain, plain.removesuffix("s"), plain.removesuffix("es")}
    return [key for key in known if not forms.isdisjoint(OTHER_WORDS.get(key, "").split())]


V = TypeVar("V")

Read = Callable[[Any], Any]

Key = tuple[str, Read | None, bool]
"""Of a key: the name of its field, its reader if it has one, and whether null is a value."""

LONGEST_KEY = 60

FEW_BITS = 30
"""Powers of two beyond this are shown as such."""

CLOSE_ENOUGH = 0.5
"""A wrong key and its hint have at least this similarity: 'fd' and 'df' just have it."""

MISSPELT = 0.8
"""A key of this similarity is meant, even if another field has the wrong word for another key."""


def reader(kind: Any) -> Read:
    """Return the reader of a type: it takes a value of JSON or TOML, or one of Python.

    The reader gives a checked value, with tuples for arrays. It raises :class:`DfoptError` with
    the place of the first wrong value.
    """
    if isinstance(kind, type) and issubclass(kind, Struct):
        return partial(_struct, kind)  # the description of all types within would take milliseconds
    return _read(inspect.type_info(kind))


def at(place: str, read: Callable[[Any], V], value: object) -> V:
    """Return ``read(value)``; errors name ``place``."""
    try:
        return read(value)
    except DfoptError as error:
        raise error.within(place) from None


def derived_key(name: str) -> str:
    """Return the key of a property that documents have, too: ``optimal`` for ``is_optimal``."""
    return name.removeprefix("is_")


def is_free(key: str) -> bool:
    """Whether users may add ``key`` to any object, because readers ignore it."""
    return key.startswith("x-") or key == "$schema"


def shown_place(path: Collection[str | int]) -> str:
    """Return a path into a document as errors show it, such as ``tasks[3].lines``."""
    place = ""
    for key in path:
        if isinstance(key, int):
            place += f"[{key}]"
        elif key.replace("-", "_").replace("$", "_").isidentifier() and len(key) <= LONGEST_KEY:
            place += f".{key}" if place else key
        else:
            place += f"[{described(key)}]"
    return place


def described_value(value: object) -> str:
    """Return a short text for a wrong value, in the words of JSON and TOML."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case dict():
            return "an object {…}"
        case list():
            return "an array"
        case date() | time():
            return str(value)
    return described(value)


def struct_type(cls: type[Struct]) -> inspect.StructType:
    """Return what msgspec knows of a struct."""
    kind = inspect.type_info(cls)
    assert isinstance(kind, inspect.StructType)
    return kind


@cache
def checks_of(cls: type[Struct]) -> tuple[tuple[str, str, Read, Any], ...]:
    """Return of each field of a struct its name, its key, its reader and its default."""
    fields = struct_type(cls).fields
    return tuple((each.name, each.encode_name, _read(each.type), each.default) for each in fields)


AN_OBJECT, AN_ARRAY = "an object {…}", "an array […]"


@dataclass(frozen=True, slots=True)
class _Kind:
    """The values of a type.

    Parameters
    ----------
    nouns
        What a sentence calls them.
    fits
        Whether a value may mean one of them, right or wrong.
    read
        Their reader.
    """

    nouns: list[str]
    fits: Callable[[object], bool]
    read: Read


def _kind(kind: inspect.Type, **marks: Any) -> _Kind:  # noqa: PLR0911, PLR0912 - one for each type
    read: Read
    match kind:
        case inspect.Metadata(extra=extra):
            own: dict[str, Any] = extra or {}
            inner = _kind(kind.type, **own)
            nouns = [own["is"]] if "is" in own else inner.nouns
            return _Kind(nouns, inner.fits, own.get("reader", inner.read))
        case inspect.EnumType(cls=words):
            return _choice({str(word): word for word in words})
        case inspect.LiteralType(values=values):
            return _choice({value: value for value in values})
        case inspect.IntType():
            least = -LARGEST_TOTAL if kind.ge is None else kind.ge
            most = LARGEST_TOTAL if kind.le is None else kind.le
            return _Kind(["an integer"], _is(int), partial(_integer, least, most))
        case inspect.FloatType():
            return _Kind(["a number"], _is(int, float), partial(_number, kind))
        case inspect.BoolType():
            return _Kind(["true", "false"], _is(bool), partial(_instance, bool, "true or false"))
        case inspect.StrType():
            noun = marks.get("is", "a string")
            return _Kind([noun], _is(str), partial(_text, kind.pattern, noun))
        case inspect.VarTupleType() | inspect.ListType():
            read = partial(_each, _read(kind.item_type), kind.min_length or 0, kind.max_length)
            return _Kind([AN_ARRAY], _is(list, tuple), read)
        case inspect.TupleType():
            due = marks.get("is", f"an array of {len(kind.item_types)} values")
            read = partial(_row, [_read(each) for each in kind.item_types], due)
            return _Kind([AN_ARRAY], _is(list, tuple), read)
        case inspect.UnionType():
            return _union(kind, marks.get("kinds", ""))
        case inspect.DataclassType(cls=cls):
            return _Kind([AN_OBJECT], _is(cls), partial(_instance, cls, AN_OBJECT))
        case inspect.DictType():
            read = partial(_by_name, _read(kind.value_type))
        case inspect.StructType():
            read = partial(_struct, kind.cls)
        case inspect.AnyType() if "parts" in marks:
            read = partial(_either, marks["parts"])
        case _:
            read = partial(_instance, object, AN_OBJECT)
    return _Kind([AN_OBJECT], _is(dict, Struct), read)


def _read(kind: inspect.Type) -> Read:
    return _kind(kind).read


def _is(*classes: type) -> Callable[[object], bool]:
    """Return whether a value is of these classes; a truth value is no number."""
    return lambda value: (
        isinstance(value, classes) and (bool in classes or not isinstance(value, bool))
    )


def _listed(words: Collection[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def _integer(least: int, most: int, value: object) -> object:
    check_integer(value, "", least=least, most=most)
    return value


def _number(kind: inspect.FloatType, value: object) -> object:
    """Refuse anything but a finite number; TOML has NaN and Infinity."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InstanceError(f"must be a number, not {described_value(value)}")
    if not abs(value) <= LARGEST_TOTAL:  # NaN is neither more nor less
        raise InstanceError(f"must be finite and at most 2^62, not {described_value(value)}")
    for limit, holds, words in (
        (kind.ge, ge, "at least"),
        (kind.gt, gt, "more than"),
        (kind.le, le, "at most"),
        (kind.lt, lt, "less than"),
    ):
        if limit is not None and not holds(value, limit):
            raise InstanceError(f"must be {words} {_limit(limit)}, not {described_value(value)}")
    return value


def _limit(limit: float) -> str:
    """Return a limit as errors show it, large and small powers of two as such."""
    power = log2(limit) if limit > 0 else 0.0
    return f"2^{power:.0f}" if power.is_integer() and abs(power) > FEW_BITS else f"{limit:g}"


def _instance(cls: type, noun: str, value: object) -> object:
    if not isinstance(value, cls):
        raise InstanceError(f"must be {noun}, not {described_value(value)}")
    return value


def _text(pattern: str | None, noun: str, value: object) -> object:
    check_name(value, "")
    if pattern is not None and not re.fullmatch(pattern, str(value)):
        raise InstanceError(f"must be {noun}, not {described_value(value)}")
    return value


def _choice(words: dict[Any, Any]) -> _Kind:
    """Return the kind of values that are written as one of these words, with what each means."""
    nouns = list(map(repr, words))

    def read(value: object) -> object:
        try:
            return words[value]
        except (KeyError, TypeError):
            meant = keys_called(value, words) if isinstance(value, str) else []
            hint = f"; did you mean {' or '.join(map(repr, meant))}?" if meant else ""
            problem = f"must be one of {', '.join(nouns)}, not {described_value(value)}{hint}"
            raise InstanceError(problem) from None

    return _Kind(nouns, lambda value: value in list(words), read)


def _each(read: Read, least: int, most: int | None, values: object) -> tuple[Any, ...]:
    if not isinstance(values, list | tuple):
        raise InstanceError(f"must be an array […], not {described_value(values)}")
    if len(values) < least:
        raise InstanceError(f"has {len(values)} entries; at least {least} are needed")
    if most is not None and len(values) > most:
        raise InstanceError(f"has {len(values)} entries; at most {most} are supported")
    items: list[Any] = []
    try:
        items.extend(map(read, values))
    except DfoptError as error:
        raise error.within(f"[{len(items)}]") from None
    return tuple(items)


def _row(readers: list[Read], due: str, values: object) -> tuple[Any, ...]:
    if not isinstance(values, list | tuple) or len(values) != len(readers):
        raise InstanceError(f"must be {due}, not {described_value(values)}")
    pairs = enumerate(zip(readers, values, strict=True))
    return tuple(at(f"[{number}]", read, value) for number, (read, value) in pairs)


def _by_name(read: Read, values: object) -> dict[str, Any]:
    return {
        key: at(shown_place((key,)), read, value)
        for key, value in _object(values).items()
        if not is_free(key)
    }


def _object(value: object) -> dict[str, Any]:
    """Return an object as it is."""
    if not isinstance(value, dict):
        raise FileError(f"must be {AN_OBJECT}, not {described_value(value)}")
    return value


def _union(kind: inspect.UnionType, kinds: str) -> _Kind:
    """Return the kind of a union, which may have several structs if they have tags."""
    structs = [each for each in kind.types if isinstance(each, inspect.StructType)]
    tagged = structs if len(structs) > 1 else []
    others = [each for each in kind.types if each not in (inspect.NoneType(), *tagged)]
    words = (inspect.LiteralType, inspect.EnumType)
    members = [*map(_kind, sorted(others, key=lambda each: not isinstance(each, words)))]
    if tagged:
        classes = {str(each.tag): each.cls for each in tagged}
        read_tagged = partial(_one_of, classes, kinds)
        members.append(_Kind([AN_OBJECT], _is(dict, Struct), read_tagged))
    only = members[0].read if len(members) == 1 else None
    nouns = [noun for each in members for noun in each.nouns]

    def read(value: object) -> object:
        if value is None and kind.includes_none:
            return None
        if only is not None:
            return only(value)
        for member in members:
            if member.fits(value):
                return member.read(value)
        raise InstanceError(f"must be {_listed(nouns)}, not {described_value(value)}")

    return _Kind(nouns, lambda value: any(each.fits(value) for each in members), read)


def _one_of(classes: dict[str, type[Struct]], kinds: str, value: object) -> object:
    """Read the struct that the tag of an object names."""
    if isinstance(value, tuple(classes.values())):
        return value
    value = _object(value)
    tag_field = str(next(iter(classes.values())).__struct_config__.tag_field)
    if tag_field not in value:
        raise FileError("is missing; it is required", place=tag_field)
    kind = value[tag_field]
    if not isinstance(kind, str) or kind not in classes:
        problem = f"must be one of {', '.join(map(repr, classes))}, not {described_value(kind)}"
        raise FileError("; ".join(filter(None, (problem, kinds))), place=tag_field)
    every_key = dict.fromkeys(key for cls in classes.values() for key in keys_of(cls)[0])
    for key in value:
        owners = [tag for tag, cls in classes.items() if key in keys_of(cls)[0]]
        if not owners and key != tag_field and not is_free(key):
            raise FileError(_unknown_key(key, every_key), place=shown_place((key,)))
        if owners and kind not in owners:
            raise FileError(
                f"belongs to the kind {_listed([*map(repr, owners)])}, and this one is {kind!r}; "
                "remove it or change the kind",
                place=key,
            )
    return _struct(classes[kind], value)


def _either(parts: tuple[type[Struct], ...], value: object) -> object:
    """Read the part of which an object has most keys."""
    if isinstance(value, parts):
        return value
    keys = value if isinstance(value, dict) else ()
    return _struct(max(parts, key=lambda part: sum(key in keys for key in keys_of(part)[0])), value)


def _struct(cls: type[Struct], value: object) -> object:
    """Return the struct that an object describes, or that a Python caller gives."""
    if isinstance(value, cls):
        return value
    known, required, tag_field = keys_of(cls)
    kind = cls.__struct_config__.tag
    reason = "it is required" if kind is None else f"the kind {str(kind)!r} needs it"
    unread = (tag_field, *map(derived_key, getattr(cls, "DERIVED", ())))
    given = {key: item for key, item in _object(value).items() if key not in unread}
    return cls(**read_keys(given, known, required, reason))


def read_keys(
    value: object, known: Mapping[str, Key], required: Collection[str], reason: str
) -> dict[str, Any]:
    """Return the values of an object by their names, each of them checked.

    Parameters
    ----------
    value
        The object.
    known
        The keys that it may have, besides those of users.
    required, reason
        The keys that it must have, and why.
    """
    fields = {}
    value = _object(value)
    for key, item in value.items():
        if key in known:
            name, read, takes_null = known[key]
            if item is None and not takes_null:
                remedy = "give it a value" if key in required else "leave the key out"
                raise FileError(f"must not be null; {remedy}", place=key)
            fields[name] = item if read is None else at(key, read, item)
        elif not is_free(key):
            raise FileError(_unknown_key(key, known), place=shown_place((key,)))
    for key in required:
        if key not in value:
            raise FileError(f"is missing; {reason}", place=key)
    return fields


@cache
def keys_of(
    cls: type[Struct],
) -> tuple[dict[str, Key], tuple[str, ...], str | None]:
    """Return the keys of a struct, those that must be there, and that of its tag if it has one."""
    kind = struct_type(cls)
    omits = cls.__struct_config__.omit_defaults
    known: dict[str, Key] = {}
    required = []
    for each in kind.fields:
        if each.name in getattr(cls, "UNWRITTEN", ()):
            continue
        inner: Any = each.type
        marks: dict[str, Any] = {}
        if isinstance(inner, inspect.Metadata):
            inner, marks = inner.type, inner.extra or {}
        # Where None stands for a missing key, null is no value.
        takes_null = _includes_none(inner) and (
            each.default is not None or not omits or "nullable" in marks
        )
        read = None if getattr(cls, "CHECKED", False) else _read(each.type)
        known[each.encode_name] = each.name, read, takes_null
        # A part that writes all keys needs those with content. None and empty arrays may be newer
        # than a document.
        has_content = not omits and each.default not in (None, (), NODEFAULT)
        if each.required or marks.get("required") or has_content:
            required.append(each.encode_name)
    return known, tuple(required), kind.tag_field


def _includes_none(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.AnyType) or (
        isinstance(kind, inspect.UnionType) and kind.includes_none
    )


def _unknown_key(key: str, known: Collection[str]) -> str:
    short = key[:LONGEST_KEY].lower()
    meant = (
        difflib.get_close_matches(short, known, n=1, cutoff=MISSPELT)
        or keys_called(short, known)
        or difflib.get_close_matches(short, known, n=1, cutoff=CLOSE_ENOUGH)
    )
    if meant:
        return f"unknown key; did you mean {' or '.join(map(repr, meant))}?"
    return f"unknown key; known are {', '.join(known)}, and your own may begin with 'x-'"
