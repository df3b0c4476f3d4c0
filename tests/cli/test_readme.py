"""What the README says to type runs as it stands, beside the files that ship."""

import gzip
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.test_help import COMMANDS
from tests.console_blocks import commands_in

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
IN_TEXT = re.compile(r"`dfopt ([^`]*)`")

MEASURE = "measure "
"""The beginning of commands that measure this machine; they have tests of their own."""

FEW_LINES = 200
"""Lines of a recording that stand here for the whole one, which takes minutes."""

FEWER_REPLICATIONS = {"simulate space-sharing mix-5 -o model.toml": ("--replications", "2")}
"""What makes a simulation short."""

ENTERS_EXAMPLES = "cd docs/examples"


def typed() -> list[str]:
    """Return what the README types behind ``dfopt``, in its order."""
    blocks = [command.text.partition(" # ")[0].strip() for command in commands_in(README)]
    position = next(number for number, text in enumerate(blocks) if ENTERS_EXAMPLES in text)
    assert [text.partition(" ")[0] for text in blocks[:position]] == ["make"]
    after = [text for text in blocks[position + 1 :] if not text.startswith("make ")]
    assert all(text.startswith("dfopt ") for text in after)
    in_blocks = [text.removeprefix("dfopt ") for text in after]
    return list(dict.fromkeys([*in_blocks, *IN_TEXT.findall(README)]))


@pytest.mark.slow
def test_what_is_typed_runs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = tmp_path / "docs/examples"
    shutil.copytree(ROOT / "docs/examples", examples)
    recording = examples / "hackbench-4.txt.gz"
    lines = gzip.decompress(recording.read_bytes()).splitlines(keepends=True)
    recording.write_bytes(gzip.compress(b"".join(lines[:FEW_LINES])))
    instances = tmp_path / "instances"
    instances.mkdir()
    for name in ("pinter-worked-example.json", "hackbench-4-groups-100.json"):
        shutil.copy(ROOT / "instances" / name, instances)
    monkeypatch.chdir(examples)
    failed = []
    for text in typed():
        words = tuple(shlex.split(text))
        if words in COMMANDS or text == "COMMAND --help" or text.startswith(MEASURE):
            continue  # the name of a command
        code, _, err = run(*words, *FEWER_REPLICATIONS.get(text, ()))
        if code:
            failed.append(f"{text}: {code}, {err}")
    assert not failed, "\n".join(failed)
    assert set(FEWER_REPLICATIONS) <= set(typed())
