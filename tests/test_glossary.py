"""The glossary explains every word by which commands speak of proofs."""

import re
from pathlib import Path
from typing import get_args

from dfopt.problem.certificate import WORDS_OF_PROOFS, Certificate, kind_of
from dfopt.problem.result import COUNTING_BOUNDS
from dfopt.verify.counting import ARGUMENTS

GLOSSARY = Path(__file__).parents[1] / "docs" / "reference" / "glossary.md"


def proofs() -> list[list[str]]:
    """Return the cells of the table of proofs."""
    text = GLOSSARY.read_text("utf-8").split("## Words of proofs")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return rows[2:]


def test_every_proof_is_explained() -> None:
    printed = {word for row in proofs() for word in row[0].split(", ")}
    said = {*WORDS_OF_PROOFS} - {"counting"}
    said |= {f"{name} bound" for name in ("cp-sat", *COUNTING_BOUNDS, *ARGUMENTS)}
    said |= {"complete search by …", "none needed"}
    assert said <= printed


def test_every_kind_is_explained_and_linked() -> None:
    assert {row[1].strip("`") for row in proofs()} == {*map(kind_of, get_args(Certificate)), "–"}
    assert all(re.search(r"\]\(.*\.md", row[3]) for row in proofs() if row[1] != "–")


def test_every_kind_that_can_be_checked_has_a_word() -> None:
    kinds = get_args(Certificate)
    assert {kind_of(kind) for kind in kinds if not kind.WORDS} == {"search"}
