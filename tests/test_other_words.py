import re
from pathlib import Path

import pytest

from dfopt import Instance, Task
from dfopt.type_reader import OTHER_WORDS, keys_called

GLOSSARY = Path(__file__).parents[1] / "docs" / "reference" / "glossary.md"
INSTANCE_KEYS, TASK_KEYS = Instance.__struct_fields__, Task.__struct_fields__
ROWS = {"CPU": ("cpus", INSTANCE_KEYS), "task": ("tasks", INSTANCE_KEYS)}
ROWS["data fragment (`df`)"] = ("df", tuple(key for key in TASK_KEYS if key != "type"))


def words(row):
    """Return the single words that the glossary's table has for one thing."""
    (line,) = re.findall(rf"^\| {re.escape(row)} \|(.*)\|$", GLOSSARY.read_text("utf-8"), re.M)
    return [word for word in re.split(r"[|,;]", line) if re.fullmatch(r" *\w+ *", word)]


@pytest.mark.parametrize("row", ROWS)
def test_every_field_is_understood(row):
    key, known = ROWS[row]
    assert len(words(row)) > 3
    for word in words(row):
        for form in (word.strip(), f"{word.strip()}s".replace("sss", "sses")):
            assert keys_called(form, known) == [key], form


def test_a_word_of_two_meanings_has_two_keys():
    assert keys_called("setup", TASK_KEYS) == ["df", "type"]


def test_only_known_keys_are_named():
    assert keys_called("machine", TASK_KEYS) == []
    assert keys_called("nonsense", tuple(OTHER_WORDS)) == []
