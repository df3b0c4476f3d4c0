"""Reads the cells of a workbook (.xlsx) as texts: a zip archive of XML."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of all sheets, each with its texts by the letters of their columns."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        shared = []
        if "xl/sharedStrings.xml" in names:
            for item in ElementTree.fromstring(archive.read("xl/sharedStrings.xml")):
                shared.append("".join(part.text or "" for part in item.iter(f"{SPACE}t")))
        for name in sorted(names):
            if not name.startswith("xl/worksheets/sheet"):
                continue
            for row in ElementTree.fromstring(archive.read(name)).iter(f"{SPACE}row"):
                cells = {}
                for cell in row:
                    value = cell.find(f"{SPACE}v")
                    column = re.match("[A-Z]+", cell.get("r", ""))
                    if value is not None and value.text and column:
                        text = value.text
                        cells[column[0]] = shared[int(text)] if cell.get("t") == "s" else text
                yield cells
