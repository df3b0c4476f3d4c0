"""What the shell offers when it completes a command."""

import pytest
from typer.testing import CliRunner

from dfopt.files.formats import schema_names
from dfopt.simulate import shipped_scenarios
from dfopt.simulate.policies import POLICIES
from dfopt_cli import completion
from dfopt_cli.app import app
from dfopt_models.response_time import RESPONSE_TIME
from dfopt_models.space_sharing import shipped_mixes


def offered(typed: str) -> list[str]:
    """Return what bash offers for the last word of a command line."""
    *_, last = words = typed.split(" ")
    environment = {
        "_DFOPT_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(word or "''" for word in words),
        "COMP_CWORD": str(len(words) - 1),
    }
    outcome = CliRunner().invoke(app, prog_name="dfopt", env=environment)
    assert outcome.exit_code == 0, outcome.output
    found = outcome.stdout.split()
    assert all(name.startswith(last) for name in found)
    return found


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("dfopt comp", ["compare"]),
        ("dfopt generate un", ["uniform"]),
        ("dfopt compare trace.txt --js", ["--json"]),
        ("dfopt compare trace.txt --df p", ["process"]),
        ("dfopt simulate run-queue chat --policy scx-s", ["scx-simple"]),
        ("dfopt simulate space-sharing mix-1 --policy eq", ["equipartition"]),
        ("dfopt model contention s", ["sohn-kim"]),
        ("dfopt schema waiting", ["waiting-proof"]),
        # With nothing to offer, the shell completes names of files.
        ("dfopt compare tr", []),
        ("dfopt simulate run-queue my-scena", []),
    ],
)
def test_names_are_offered(typed: str, names: list[str]) -> None:
    assert offered(typed) == names


def test_all_names_are_offered() -> None:
    assert completion.run_queue_policies("") == ["all", *POLICIES]
    assert completion.scenarios("") == ["all", *shipped_scenarios()]
    assert completion.mixes("") == list(shipped_mixes())
    assert completion.schemas("") == schema_names()
    assert completion.models_of("response")("") == list(RESPONSE_TIME.shipped())
