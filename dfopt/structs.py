"""Values that documents and Python callers give alike: structs whose types say what is allowed.

A type is written once, as the annotation of a field. From it follow the check of a value, the
reader of a document (:mod:`dfopt.type_reader`), its writer and its JSON Schema.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from enum import Enum, StrEnum
from functools import cache
from reprlib import Repr
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, dataclass_transform

import msgspec
from msgspec import NODEFAULT, Meta, Struct, StructMeta, field, inspect
from msgspec.structs import force_setattr

from dfopt.checks import LARGEST_TOTAL
from dfopt.errors import DfoptError
from dfopt.type_reader import checks_of, derived_key, read_keys, reader, struct_type

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


WHOLE, LONGEST = 700, 400
"""Up to the first number of characters all is shown; where more is left out, up to the second."""

LIMITS = ((1000, 9, WHOLE), (10, 4, LONGEST), (4, 4, LONGEST), (2, 3, LONGEST), (1, 2, LONGEST))
"""Items of a collection, objects within objects, and characters: what to try in turn."""


def short_repr(self: Any) -> str:
    """Return how an object is made, without defaults, and with the first items of what is long.

    Small objects are shown whole.
    """
    text = ""
    for most, levels, longest in LIMITS:
        text = _Shown(most).repr1(self, levels)
        if len(text) <= longest:
            break
    return text


class _Shown(Repr):
    """Shows a limited number of items of each collection."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.maxtuple = self.maxlist = self.maxdict = self.maxset = self.maxfrozenset = most
        self.maxstring = self.maxother = max(60, most)

    def repr1(self, x: Any, level: int) -> str:
        """Return a value as it is shown."""
        if isinstance(x, Enum):
            return repr(x.value)
        if not isinstance(x, Struct):
            return super().repr1(x, level)
        if level <= 0:
            return f"{type(x).__name__}(...)"
        names, defaults = x.__struct_fields__, x.__struct_defaults__
        # Defaults, or what makes them, are those of the last fields.
        usual = {
            name: default.factory() if hasattr(default, "factory") else default
            for name, default in zip(reversed(names), reversed(defaults), strict=False)
        }
        shown = ", ".join(
            f"{name}={self.repr1(value, level - 1)}"
            for name in names
            if name not in getattr(x, "UNSHOWN", ())
            and not _is_default(value := getattr(x, name), usual.get(name, NODEFAULT))
        )
        return f"{type(x).__name__}({shown})"


def _is_default(value: object, default: object) -> bool:
    """Return whether a value is the default; an array is if all its items are."""
    same: Any = value == default
    return default is not NODEFAULT and bool(same if isinstance(same, bool) else same.all())


T = TypeVar("T", bound="Record | DataclassInstance")
Default = TypeVar("Default")


Natural = Annotated[int, Meta(ge=0, le=LARGEST_TOTAL)]
"""An integer from 0 to 2^62."""

Positive = Annotated[int, Meta(ge=1, le=LARGEST_TOTAL)]
"""An integer from 1 to 2^62."""

Percent = Annotated[int, Meta(ge=0, le=100)]
"""An integer from 0 to 100."""

Signed = Annotated[int, Meta(ge=-LARGEST_TOTAL, le=LARGEST_TOTAL)]
"""An integer from -2^62 to 2^62."""

NonNegative = Annotated[float, Meta(ge=0)]
"""A number that is at least 0."""

Share = Annotated[float, Meta(ge=0, le=1)]
"""A part of a whole."""

NULLABLE = Meta(extra={"nullable": True}, extra_json_schema={"nullable": True})
"""Marks a field whose default is None and that documents may write as null all the same."""

REQUIRED = Meta(extra={"required": True}, extra_json_schema={"required": True})
"""Marks a field that documents must have, although Python callers may leave it out."""

Digest = Annotated[
    str,
    Meta(
        pattern="^[0-9a-f]{64}$",
        extra={"is": "64 hexadecimal digits in lower case, as 'dfopt info' prints them"},
    ),
]
"""A SHA-256."""


DERIVED_DIGITS = 6
"""Decimal places of numbers that follow from others."""


class _RecordMeta(StructMeta):
    """Gives each record keywords only; a struct does not inherit that."""

    def __new__(
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any
    ) -> Any:
        return super().__new__(cls, name, bases, namespace, **{"kw_only": True, **config})


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Record(Struct, metaclass=_RecordMeta, frozen=True, kw_only=True, weakref=True):
    """A value with named parts, which nobody changes."""

    __repr__ = short_repr


class DocumentPart(Record, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a document. Its values are checked where it is read, and not where it is made.

    Attributes
    ----------
    CHECKED
        Whether the values are checked where a part is made.
    DERIVED
        The properties that documents have, too. They follow from the fields, so that nobody reads
        them, and they are written with six decimal places.
    UNWRITTEN
        The fields that documents do not have.
    """

    CHECKED: ClassVar[bool] = False
    DERIVED: ClassVar[tuple[str, ...]] = ()
    UNWRITTEN: ClassVar[tuple[str, ...]] = ()


class Checked(DocumentPart):
    """A part of a document whose values are checked by their types, whoever makes it.

    Python callers may give lists for tuples, words for members of enumerations, and dictionaries
    for parts.
    """

    CHECKED = True

    def __post_init__(self) -> None:
        """Check the fields one by one.

        Raises
        ------
        DfoptError
            With place and remedy, at the first wrong value.
        """
        for name, key, read, default in checks_of(type(self)):
            value = getattr(self, name)
            if value is default:
                continue
            try:
                settled = read(value)
            except DfoptError as error:
                raise error.within(key) from None
            if settled == default and type(settled) is type(default):
                settled = default  # what is written is told by identity
            if settled is not value:
                force_setattr(self, name, settled)


def replace(value: T, /, **changes: Any) -> T:
    """Return a copy of a struct or a data class with other values, checked anew."""
    if isinstance(value, Record):
        return msgspec.structs.replace(value, **changes)
    return dataclasses.replace(value, **changes)


def written(default: Default, name: str | None = None) -> Default:
    """Return a default that is written into documents all the same, under another ``name``."""
    return field(default_factory=lambda: default, name=name)


def either(*parts: type[DocumentPart]) -> Any:
    """Return the type of a value that is one of several parts, which only their keys tell apart.

    An object is the part of which it has most keys. For type checkers it is a union, which msgspec
    does not know without tags.
    """
    schemas = [{"$ref": f"#/$defs/{part.__name__}"} for part in parts]
    return Annotated[Any, Meta(extra={"parts": parts}, extra_json_schema={"anyOf": schemas})]


def each_of(words: type[StrEnum], newer: Collection[str] = ()) -> Meta:
    """Return what says that a dictionary has a number for each word of an enumeration.

    Documents may lack ``newer`` words, whose number is then 0. Words may have a ``meaning``.
    """
    due = [str(word) for word in words if word not in newer]
    schemas = {
        str(word): {
            "type": "integer",
            "minimum": 0,
            **({"description": word.meaning} if hasattr(word, "meaning") else {}),
        }
        for word in words
    }
    schema = {
        "type": "object",
        "properties": schemas,
        "required": due,
        "additionalProperties": False,
    }

    def read(value: object) -> dict[Any, int]:
        known = {str(word): (word, reader(Natural), False) for word in words}
        given: dict[Any, int] = read_keys(value, known, due, "it is required")
        return {word: given.get(word, 0) for word in words}

    return Meta(extra={"reader": read}, extra_json_schema={"replaced_by": schema})


def document_of(part: DocumentPart) -> dict[str, Any]:
    """Return the object of JSON that describes a part; what has its default is left out."""
    if not _holds_own(type(part)):
        text = msgspec.json.encode(part, enc_hook=lambda column: column.tolist())
        return msgspec.json.decode(text)  # type: ignore[no-any-return]
    config = part.__struct_config__
    document: dict[str, Any] = {} if config.tag_field is None else {config.tag_field: config.tag}
    omits = config.omit_defaults
    for each in struct_type(type(part)).fields:
        value = getattr(part, each.name)
        is_default = value is each.default or (each.default_factory is dict and not value)
        if each.name not in part.UNWRITTEN and not (omits and is_default):
            document[each.encode_name] = _plain(value)
    for name in part.DERIVED:
        value = getattr(part, name)
        shown = round(value, DERIVED_DIGITS) if isinstance(value, float) else _plain(value)
        document[derived_key(name)] = shown
    return document


def _plain(value: Any) -> Any:
    """Return a value of a part as JSON has it."""
    match value:
        case DocumentPart():
            return document_of(value)
        case dict():
            return {str(key): _plain(one) for key, one in value.items()}
        case tuple() | list():
            return [_plain(one) for one in value]
    return msgspec.to_builtins(value)


def parts_of(kind: Any) -> list[type]:
    """Return a type and all types of its fields that are structs, at any depth."""
    found: dict[type, None] = {}
    open_types = [inspect.type_info(kind)]
    while open_types:
        one = open_types.pop()
        if isinstance(one, inspect.StructType) and one.cls not in found:
            found[one.cls] = None
            hidden = getattr(one.cls, "UNWRITTEN", ())
            open_types += [each.type for each in one.fields if each.name not in hidden]
        for name in ("type", "types", "item_type", "item_types", "value_type"):
            inner = getattr(one, name, ())
            open_types += inner if isinstance(inner, tuple) else [inner]
        marks = getattr(one, "extra", None) or {}
        open_types += map(inspect.type_info, marks.get("parts", ()))
    return list(found)


@cache
def _holds_own(cls: type) -> bool:
    """Whether a part, or one within it, has values that its documents do not have, or more."""
    return any(
        getattr(part, "DERIVED", ()) or getattr(part, "UNWRITTEN", ()) for part in parts_of(cls)
    )
