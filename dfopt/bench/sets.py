"""Sets of instances: folders, indices and single files, checked before any work starts."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dfopt.errors import DfoptError, DfoptWarning, FileError
from dfopt.files import fingerprint, penalty_to_document, read_document, read_instance
from dfopt.files.formats import Format, document_format
from dfopt.files.streams import STANDARD_INPUT
from dfopt.problem.instance import Instance
from dfopt.problem.penalties import PenaltyMatrix
from dfopt.type_reader import at, reader


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One instance of a set: where it is, and what a row says of it.

    Parameters
    ----------
    instance
        Its name; the file's without its ending where it has none.
    file
        Its file, as named or as found in a folder or an index.
    sha256
        The digest of its document.
    tasks, cpus, fragments, penalty, objective_kind
        Its size; its penalty, f, g or matrix (there ``fragments`` are task types); and what is
        minimised.
    """

    instance: str
    file: str
    sha256: str
    tasks: int
    cpus: int
    fragments: int
    penalty: str
    objective_kind: str

    def read(self) -> Instance:
        """Return the instance, read anew.

        Raises
        ------
        FileError
            When the file has gone or changed meanwhile.
        """
        instance = read_instance(self.file)
        if fingerprint(instance) != self.sha256:
            raise FileError("has changed since the run began; start again", file=self.file)
        return instance


def read_set(*paths: str | Path) -> tuple[Entry, ...]:
    """Return the instances in folders, indices and single files.

    Parameters
    ----------
    *paths
        Each a folder, an index (``dfopt-instance-index/1``) or an instance. Of a folder with an
        ``index.json`` those that it lists are taken, else all files that end in ``.json`` or
        ``.json.gz``, in the order of their names.

    Returns
    -------
    tuple of Entry
        The instances in the order of ``paths``. One that comes twice, by its digest, is taken
        once, with a warning.

    Raises
    ------
    FileError, InstanceError
        With file, place and remedy, when a file is missing or is no instance, or when there are
        none.
    """
    entries: dict[str, Entry] = {}
    for path in paths:
        for file, listed_sha256 in _files_of(path):
            entry = _entry(file)
            if listed_sha256 not in (None, entry.sha256):
                raise FileError(
                    "is not the version that its index lists (sha256); update one of the two",
                    file=str(file),
                )
            first = entries.setdefault(entry.sha256, entry)
            if first is not entry:
                message = f"{entry.file} is the same instance as {first.file} and runs once"
                warnings.warn(message, DfoptWarning, stacklevel=2)
    if not entries:
        raise FileError("is empty; name a folder, an index or an instance", place="set")
    return tuple(entries.values())


def _files_of(path: str | Path) -> Iterable[tuple[Path, str | None]]:
    """Return the files of a set, and the digests that an index tells."""
    if str(path) == STANDARD_INPUT:
        raise FileError("is read once only; name a file or a folder", file="standard input")
    file = Path(path)
    if file.is_dir():
        index = file / "index.json"
        if not index.exists() or document_format(index) != Format.INSTANCE_INDEX:
            names = (inner.name for inner in file.iterdir())
            found = sorted(name for name in names if re.fullmatch(r"[^.].*\.json(\.gz)?", name))
            if not found:
                raise FileError(
                    "holds no file that ends in .json or .json.gz; name another folder",
                    file=str(file),
                )
            return [(file / name, None) for name in found]
        file = index
    if document_format(file) != Format.INSTANCE_INDEX:
        return [(file, None)]
    try:
        rows = at(
            "instances", reader(tuple[dict[str, Any], ...]), read_document(file).get("instances")
        )
        listed = [at(f"instances[{place}]", _listed, row) for place, row in enumerate(rows)]
    except DfoptError as error:
        raise error.in_file(str(file)) from None
    if not listed:
        raise FileError("is empty; list some", place="instances", file=str(file))
    return [(file.parent / name, sha256) for name, sha256 in listed]


def _listed(row: dict[str, Any]) -> tuple[str, str | None]:
    if "file" not in row:
        raise FileError("must be an object {…} with the key 'file'")
    return at("file", reader(str), row["file"]), at("sha256", reader(str | None), row.get("sha256"))


def _entry(file: Path) -> Entry:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DfoptWarning)
        instance = read_instance(file)
    for warning in caught:
        warnings.warn(f"{file}: {warning.message}", warning.category, stacklevel=3)
    groups = "type" if isinstance(instance.penalty, PenaltyMatrix) else "df"
    return Entry(
        instance=instance.name or stem_of(str(file)),
        file=str(file),
        sha256=fingerprint(instance),
        tasks=instance.task_count,
        cpus=instance.cpus,
        fragments=len({getattr(task, groups) for task in instance.tasks}),
        penalty=penalty_to_document(instance.penalty)["kind"],
        objective_kind=str(instance.objective),
    )


def stem_of(file: str) -> str:
    """Return the name of a file without its folder and its ending."""
    return Path(file).name.removesuffix(".gz").removesuffix(".json")
