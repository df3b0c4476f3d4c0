"""The second checker, of docs/examples, says of proofs what dfopt's says, also of forged ones."""

import json
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from dfopt import replace
from dfopt.errors import DfoptError
from dfopt.files import (
    instance_to_document,
    read_instance,
    read_result,
    result_from_document,
    result_to_document,
)
from dfopt.generate import zipf
from dfopt.problem.certificate import Certificate, Over, Proof
from dfopt.problem.instance import Instance, Objective
from dfopt.problem.result import Result
from dfopt.solvers import auto, solve
from dfopt.verify import verify
from tests.claims import result_of
from tests.proofs import is_tree, over_of
from tests.solvers.drawn import drawn_instances
from tests.verify.test_forged import forged
from tests.verify.test_tree import drawn_tree

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "docs" / "examples" / "check_proof.cpp"
COMPILER = next(filter(None, map(shutil.which, ("g++", "clang++"))), None)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(COMPILER is None, reason="there is no compiler"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("second") / "check_proof"
    options = ["-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(built)]
    subprocess.run([str(COMPILER), *options, str(SOURCE)], check=True)
    return built


def said(program: Path, folder: Path, instance: Instance, result: Result) -> int:
    """Return the exit code of the program for a result."""
    files = folder / "instance.json", folder / "result.json"
    documents = instance_to_document(instance), result_to_document(result)
    for file, document in zip(files, documents, strict=True):
        file.write_text(json.dumps(document), "utf-8")
    command = [str(program), *map(str, files)]
    return subprocess.run(command, check=False, capture_output=True).returncode


def claim(instance: Instance, certificate: Certificate, bound: int) -> Result:
    return result_of(
        instance, None, lower_bound=bound, certificate=certificate, status="unknown", gap=None
    )


def solved() -> Iterator[tuple[Instance, Result]]:
    for instance in drawn_instances(150, seed=71, most_tasks=8, kinds=("f", "g")):
        yield instance, solve(instance, workers=1)
    for seed in range(3):
        for objective in Objective:
            instance = zipf(tasks=24, cpus=3, fragments=7, seed=seed, exec=3, objective=objective)
            yield instance, solve(instance, workers=1, time_limit=5)


def test_it_agrees_about_results(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto, "TINY", 0)
    source = random.Random(5)
    codes = Counter[tuple[str, int]]()
    for instance, result in solved():
        if over_of(result.certificate) is not Over.CONTENTS or result.lower_bound is None:
            continue
        assert isinstance(result.certificate, Proof)
        code = said(program, tmp_path, instance, result)
        assert code == 0 or (code == 2 and is_tree(result.certificate)), instance
        codes["true", code] += 1
        all_forged = list(forged(result.certificate))
        for certificate in source.sample(all_forged, min(6, len(all_forged))):
            for bound in (result.lower_bound, result.lower_bound + 1):
                other = claim(instance, replace(certificate, threshold=bound - 1), bound)
                try:
                    other = result_from_document(result_to_document(other))
                except DfoptError:
                    continue  # it has no form that files can have
                code = said(program, tmp_path, instance, other)
                assert code == 2 or (code == 0) is verify(instance, other).bound_checked, other
                codes["forged", code] += 1
    assert codes["true", 0] >= 80
    assert codes["forged", 0] >= 30
    assert codes["forged", 1] >= 300


def test_it_agrees_about_trees(program: Path, tmp_path: Path) -> None:
    source = random.Random(6)
    codes = Counter[int]()
    for instance in drawn_instances(60, seed=72, most_tasks=6, kinds=("f", "g")):
        if instance.is_timed:
            continue
        for bound in (1, 2, 4):
            tree = drawn_tree(source, instance, bound)
            # Of other counts the program knows nothing.
            kept = [
                number
                for number, count in enumerate(tree.counts)
                if type(count).__name__ == "EntryCount" or getattr(count, "tasks", 2) == 1
            ]
            assert kept == list(range(len(kept)))
            nodes = tuple(
                replace(node, prices=tuple(row for row in node.prices if row[0] < len(kept)))
                if hasattr(node, "prices")
                else replace(node, count=node.count % len(kept))
                for node in tree.nodes
            )
            proof = replace(tree, counts=tree.counts[: len(kept)], nodes=nodes)
            result = claim(instance, proof, bound)
            code = said(program, tmp_path, instance, result)
            assert (code == 0) is verify(instance, result).bound_checked, (instance, proof)
            codes[code] += 1
    assert codes[0] >= 20
    assert codes[1] >= 20


@pytest.mark.parametrize(
    "name", ["zipf-n100-m8-d20-s1", "uniform-n50-m4-d10-s1", "tight-n100-m5-d8-s1"]
)
def test_it_agrees_about_published_results(program: Path, tmp_path: Path, name: str) -> None:
    folder = ROOT / "instances"
    instance = read_instance(folder / "benchmark" / f"{name}.json")
    result = read_result(folder / "results" / f"{name}.json")
    assert said(program, tmp_path, instance, result) == 0
    bound = (result.lower_bound or 0) + 1
    assert isinstance(result.certificate, Proof)
    more = replace(
        result, lower_bound=bound, certificate=replace(result.certificate, threshold=bound - 1)
    )
    assert said(program, tmp_path, instance, more) == 1
