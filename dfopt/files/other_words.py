"""What other fields call the keys of dfopt's documents, for hints about unknown keys.

The glossary has the words with their meanings.
"""

from __future__ import annotations

from collections.abc import Collection

OTHER_WORDS = {
    "cpus": "cpu core machine processor gpu pod bin m",
    "tasks": "job thread burst request item n",
    "df": "fragment data_fragment data family class batch_family model adapter colour color setup",
    "type": "task_type kind setup setup_state",
    "exec": "processing_time execution_time run_time duration length time p p_j",
    "release": "release_date release_time ready ready_time arrival arrival_time r r_j",
    "after": "predecessor precedence depends_on requires",
    "count": "copies multiplicity number",
    "id": "name label",
    "fill": "setup setup_time setup_cost load_time",
    "switch": "setup setup_time setup_cost changeover cost matrix s_ij",
}
"""For each key the words that may stand in its place, in the singular."""


def keys_called(word: str, known: Collection[str]) -> list[str]:
    """Return those of the known keys that somebody may call by this word, or by its plural."""
    plain = word.lower().replace("-", "_").replace(" ", "_")
    forms = {plain, plain.removesuffix("s"), plain.removesuffix("es")}
    return [key for key in known if not forms.isdisjoint(OTHER_WORDS.get(key, "").split())]
