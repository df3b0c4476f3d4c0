"""Check that a tag may be released, and print what the changelog says about it.

Usage: python release/notes.py v0.1.0
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


class NotReadyError(Exception):
    """The tag and the files of the project do not agree."""


def found(pattern: str, file: Path, form: str) -> str:
    """Return what the group of a pattern matches in a file; ``form`` is a line that would do."""
    match = re.search(pattern, file.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    if match is None:
        raise NotReadyError(f"{file.name}: has no line of the form {form}; write it")
    return match[1]


def release_notes(tag: str, root: Path = ROOT) -> str:
    """Return the changelog's section of a tag.

    Raises
    ------
    NotReadyError
        If the tag is not the version with a v before it, or if the changelog or CITATION.cff do
        not name that version with the same date.
    """
    form = '__version__ = "0.2.0"'
    version = found(r'^__version__ = "([^"\n]+)"$', root / "dfopt" / "_version.py", form)
    if tag != f"v{version}":
        raise NotReadyError(
            f"dfopt/_version.py says {version}, which the tag {tag!r} is not; give TAG=v{version}, "
            "or set the version"
        )
    changes, citation = root / "CHANGELOG.md", root / "CITATION.cff"
    heading = rf"^## \[{re.escape(version)}\] - "
    form = f"## [{version}] - 2026-12-01"
    date = found(rf"{heading}(\d{{4}}-\d\d-\d\d)$", changes, form)
    cited = (
        found(r"^version: (\S+)$", citation, f"version: {version}"),
        found(r"^date-released: (\S+)$", citation, f"date-released: {date}"),
    )
    if cited != (version, date):
        raise NotReadyError(
            f"CHANGELOG.md says {version} of {date}, but CITATION.cff {' of '.join(cited)}; "
            "correct one of them"
        )
    return found(rf"{heading}{date}\n(.*?)(?=^## \[|\Z)", changes, form).strip() + "\n"


if __name__ == "__main__":
    try:
        sys.stdout.write(release_notes("".join(sys.argv[1:2])))
    except NotReadyError as error:
        sys.exit(str(error))
