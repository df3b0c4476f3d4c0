"""Solve the instances of this folder again, and keep the better bounds in index.json.

    python instances/update_index.py                        # all that are not yet proven
    python instances/update_index.py --all                  # all
    python instances/update_index.py generated/tight-n96-m8-d14-s0.json --time-limit 600

Every result is verified before it is kept. The index is written after each instance, so the
script may be interrupted at any time.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dfopt import (
    Instance,
    Result,
    Status,
    StopReason,
    TimeLimit,
    read_instance,
    read_result,
    replace,
    solve,
    write_result,
)
from dfopt.files import document_text, fingerprint, read_document, write_text
from dfopt.files.formats import Format
from dfopt.problem.certificate import Certificate, CompleteSearch, Exhaustive, Proof
from dfopt.problem.result import relative_gap
from dfopt.verify import verify

FOLDER = Path(__file__).parent
INDEX = FOLDER / "index.json"
FORMAT = Format.INSTANCE_INDEX

STRENGTH: dict[type[Certificate], int] = {CompleteSearch: 1, Exhaustive: 2, Proof: 3}
"""Of certificates for the same bound, one that is easier to check is better."""


def instance_files() -> list[str]:
    """Return the files of all instances, as named in the index."""
    folders = (FOLDER, *(FOLDER / name for name in ("small", "generated", "benchmark")))
    paths = [
        path
        for folder in folders
        for path in sorted([*folder.glob("*.json"), *folder.glob("*.json.gz")])
        if path != INDEX
    ]
    return [path.relative_to(FOLDER).as_posix() for path in paths]


def known_entries() -> dict[str, dict[str, Any]]:
    """Return the entries of the index by file."""
    if not INDEX.exists():
        return {}
    return {entry["file"]: entry for entry in read_document(INDEX)["instances"]}


def better_of(old: Result | None, new: Result) -> Result:
    """Return the best schedule and the best bound of two results about the same instance."""
    new = replace(new, history=())
    if old is None or new.status is Status.INFEASIBLE:
        return new
    scheduled = min(old, new, key=objective_rank)
    bounded = max(old, new, key=bound_rank)
    if scheduled is bounded:
        return scheduled
    closed = scheduled.objective == bounded.lower_bound
    return replace(
        bounded,
        status=Status.OPTIMAL if closed else scheduled.status,
        stop_reason=StopReason.PROOF if closed else scheduled.stop_reason,
        objective=scheduled.objective,
        schedule=scheduled.schedule,
        gap=relative_gap(scheduled.objective, bounded.lower_bound),
    )


def objective_rank(result: Result) -> tuple[bool, int]:
    """Rank results by their schedules, best first."""
    return result.objective is None, result.objective or 0


def bound_rank(result: Result) -> tuple[int, int]:
    """Rank results by their bounds and by how well these can be checked, best last."""
    certificate = result.certificate
    return result.lower_bound or 0, STRENGTH[type(certificate)] if certificate else 0


def how(result: Result) -> str:
    """Say where a result comes from and what its lower bound rests on."""
    match result.certificate:
        case _ if result.status is Status.INFEASIBLE:
            proof = "too little capacity"
        case None:
            proof = "nothing to prove" if result.lower_bound == 0 else "none"
        case CompleteSearch(solver=solver):
            proof = f"complete search by {solver}"
        case certificate:
            proof = certificate.words
    return f"{result.method}, {result.wall_time_s or 0:.2f} s; bound: {proof}"


def entry_of(
    file: str, instance: Instance, result: Result, generated_by: str | None
) -> dict[str, Any]:
    """Return the index's entry of an instance."""
    return {
        "file": file,
        "name": instance.name,
        "sha256": fingerprint(instance),
        "tasks": instance.task_count,
        "cpus": instance.cpus,
        "objective": str(instance.objective),
        "status": str(result.status),
        "lower_bound": result.lower_bound,
        "upper_bound": result.objective,
        "how": how(result),
        "result": result_file(file).relative_to(FOLDER).as_posix(),
        "generated_by": generated_by,
    }


def result_file(file: str) -> Path:
    """Return where the best known result is kept: compressed where the instance is."""
    return FOLDER / "results" / Path(file).name


def known_result(file: str, instance: Instance) -> Result | None:
    """Return the best known result, None where there is none for this version of the instance."""
    path = result_file(file)
    if not path.exists():
        return None
    result = read_result(path)
    return result if result.instance_sha256 == fingerprint(instance) else None


def update(
    entries: dict[str, dict[str, Any]], selected: list[str], **options: Any
) -> Iterator[str]:
    """Solve the selected instances and keep what is better; yield a line about each."""
    for file in selected:
        instance = read_instance(FOLDER / file)
        known = known_result(file, instance)
        best = better_of(known, solve(instance, **options))
        found = verify(instance, best)
        if not found.ok:
            raise SystemExit(f"{file}: {'; '.join(found.problems)}")
        if best is not known:
            write_result(best, result_file(file))
        generated_by = entries.get(file, {}).get("generated_by")
        entries[file] = entry_of(file, instance, best, generated_by)
        listed = [entries[name] for name in instance_files() if name in entries]
        write_text(INDEX, document_text({"format": FORMAT, "instances": listed}))
        yield f"{file}: {best.status}, {best.lower_bound} … {best.objective}, {how(best)}"


def main() -> None:
    """Read the command line and update the index."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", help="instances, as named in the index")
    parser.add_argument("--all", action="store_true", help="those already proven too")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--time-limit", type=float, default=120, help="seconds for each")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    entries = known_entries()
    proven = {
        file
        for file, entry in entries.items()
        if entry.get("status") in (Status.OPTIMAL, Status.INFEASIBLE)
    }
    selected = given.files or [file for file in instance_files() if given.all or file not in proven]
    options = {"method": given.method, "stop": TimeLimit(given.time_limit), "seed": given.seed}
    for line in update(entries, selected, **options):
        print(line, flush=True)


if __name__ == "__main__":
    main()
