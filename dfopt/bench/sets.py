"""Sets of instances: folders, indices and single files, checked before any work starts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dfopt.errors import DfoptError, DfoptWarning, FileError
from dfopt.files import fingerprint, instance_from_document, read_document
from dfopt.files.fields import at, each, string
from dfopt.files.formats import Format
from dfopt.files.json_text import document_digest
from dfopt.files.streams import STANDARD_INPUT
from dfopt.files.strict_json import Document
from dfopt.problem.penalties import PenaltyMatrix


@dataclass(frozen=True, slots=True, kw_only=True)
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
        As in :class:`~dfopt.bench.Row`.
    """

    instance: str
    file: str
    sha256: str
    tasks: int
    cpus: int
    fragments: int
    penalty: str
    objective_kind: str

    def document(self) -> Document:
        """Return the document of the instance, read anew.

        Raises
        ------
        FileError
            When the file has gone or changed meanwhile.
        """
        document = read_document(self.file)
        if document_digest(document) != self.sha256:
            raise FileError("has changed since the run began; start again", file=self.file)
        return document


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
        for file, document, listed_sha256 in _documents(path):
            entry = _entry(file, document)
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


def _documents(path: str | Path) -> Iterator[tuple[Path, Document, str | None]]:
    """Yield the files of a set, the documents in them, and the digests that an index tells."""
    if str(path) == STANDARD_INPUT:
        raise FileError("is read once only; name a file or a folder", file="standard input")
    file = Path(path)
    if file.is_dir():
        if (file / "index.json").exists() and _is_index(read_document(file / "index.json")):
            file = file / "index.json"
        else:
            for each_file in _files_in(file):
                yield each_file, read_document(each_file), None
            return
    document = read_document(file)
    if not _is_index(document):
        yield file, document, None
        return
    try:
        entries = each("instances", _listed, document.get("instances"))
    except DfoptError as error:
        raise error.in_file(str(file)) from None
    if not entries:
        raise FileError("is empty; list some", place="instances", file=str(file))
    for name, sha256 in entries:
        yield file.parent / name, read_document(file.parent / name), sha256


def _is_index(document: Document) -> bool:
    return document.get("format") == Format.INSTANCE_INDEX


def _listed(value: object) -> tuple[str, str | None]:
    if not isinstance(value, dict) or "file" not in value:
        raise FileError("must be an object {…} with the key 'file'")
    sha256 = at("sha256", string, value["sha256"]) if "sha256" in value else None
    return at("file", string, value["file"]), sha256


def _files_in(folder: Path) -> list[Path]:
    try:
        files = sorted(folder.iterdir())
    except OSError as error:
        problem = f"cannot be read ({error.strerror}); name another folder"
        raise FileError(problem, file=str(folder)) from None
    found = [
        file
        for file in files
        if file.name.endswith((".json", ".json.gz")) and not file.name.startswith(".")
    ]
    if not found:
        raise FileError(
            "holds no file that ends in .json or .json.gz; name another folder", file=str(folder)
        )
    return found


def _entry(file: Path, document: Document) -> Entry:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DfoptWarning)
        try:
            instance = instance_from_document(document)
        except DfoptError as error:
            raise error.in_file(str(file)) from None
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
        penalty=document["penalty"]["kind"],
        objective_kind=str(instance.objective),
    )


def stem_of(file: str) -> str:
    """Return the name of a file without its folder and its ending."""
    return Path(file).name.removesuffix(".gz").removesuffix(".json")
