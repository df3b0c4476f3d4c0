"""Good files to damage, and the errors about bad ones."""

import pytest

from dfopt.errors import DfoptError
from dfopt.files import read_instance

GOOD = (
    '{"format": "dfopt-instance/1", "cpus": 2,'
    ' "penalty": {"kind": "f", "read_line": 1, "write_back": 4},'
    ' "tasks": [{"id": "v0", "df": "A", "lines": 4}, {"id": "v1", "df": "B", "lines": 3}]}'
)
MATRIX = (
    '{"format": "dfopt-instance/1", "cpus": 2,'
    ' "penalty": {"kind": "matrix", "types": ["a", "b"], "switch": [[0, 1], [2, 3]]},'
    ' "tasks": [{"id": "v0", "type": "a"}]}'
)


def refusal(path, read=read_instance):
    """Return the one line that refuses a file."""
    with pytest.raises(DfoptError) as caught:
        read(path)
    line = str(caught.value)
    assert len(line.splitlines()) == 1
    return line


def refusal_of(tmp_path, content, name="bad.json"):
    """Return the line that refuses a file with this content, less the file's name."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    line = refusal(path)
    assert line.startswith(f"{path}: ")
    return line.removeprefix(f"{path}: ")
