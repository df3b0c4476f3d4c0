"""What other fields call the keys and words of dfopt's documents, for hints about unknown ones.

The glossary has the words with their meanings.
"""

from __future__ import annotations

from collections.abc import Collection

OTHER_WORDS = {
    "cpus": "cpu core machine processor gpu pod bin m",
    "tasks": "job thread burst request item n",
    "df": "fragment data_fragment data family class batch_family model adapter colour color setup",
    "type": "task_type kind setup setup_state family class batch_family model adapter colour color",
    "exec": "processing_time execution_time run_time duration length time p p_j",
    "release": "release_date release_time ready ready_time arrival arrival_time r r_j",
    "after": "predecessor precedence depends_on requires",
    "count": "copies multiplicity number",
    "id": "name label",
    "fill": "setup setup_time setup_cost load_time",
    "switch": "setup setup_time setup_cost changeover cost matrix s_ij",
    "makespan": "cmax c_max span completion_time",
    "max-penalty": "max maximum bottleneck max_setup",
    "total-penalty": "total sum total_setup total_setup_time",
}
"""For each key or word the words that may stand in its place, in the singular."""


def keys_called(word: str, known: Collection[str]) -> list[str]:
    """Return those of the known words that somebody may call by this one, or by its plural."""
    plain = word.lower().replace("-", "_").replace(" ", "_")
    forms = {plain, plain.removesuffix("s"), plain.removesuffix("es")}
    return [key for key in known if not forms.isdisjoint(OTHER_WORDS.get(key, "").split())]
