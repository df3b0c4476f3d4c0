"""Print the bill of materials of the locked packages: CycloneDX 1.6, as JSON.

Usage: python release/sbom.py

It names every package of ``requirements/run.txt`` with the hashes of its files. Licences and
dependencies are what the installed packages say; a package that is not installed in the locked
version has none. With ``SOURCE_DATE_EPOCH`` in the environment it also says when it was made.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PIN = re.compile(r"^(?P<name>[a-z0-9-]+)==(?P<version>[^\s;]+)(?: ; (?P<marker>.*?))? \\$")
HASH = re.compile(r"^    --hash=sha256:([0-9a-f]{64})(?: \\)?$")


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """A package in one version, as the lock names it."""

    name: str
    version: str
    marker: str | None
    hashes: tuple[str, ...]

    @property
    def url(self) -> str:
        """The package URL, which also stands for it in references."""
        return f"pkg:pypi/{self.name}@{self.version}"

    def installed(self) -> metadata.Distribution | None:
        """Return the installed package if it has this version."""
        try:
            found = metadata.distribution(self.name)
        except metadata.PackageNotFoundError:
            return None
        return found if found.version == self.version else None


def locked_packages(lock: str) -> list[LockedPackage]:
    """Return the packages of a lock, in its order.

    Raises
    ------
    ValueError
        If a line is neither a version nor a hash.
    """
    packages: list[LockedPackage] = []
    for number, line in enumerate(lock.splitlines(), 1):
        if pin := PIN.match(line):
            packages.append(LockedPackage(pin["name"], pin["version"], pin["marker"], ()))
        elif (found := HASH.match(line)) and packages:
            last = packages.pop()
            hashes = (*last.hashes, found[1])
            packages.append(LockedPackage(last.name, last.version, last.marker, hashes))
        else:
            raise ValueError(f"line {number} is neither NAME==VERSION nor a hash: {line}")
    return packages


def names_of(requirements: Iterable[str]) -> list[str]:
    """Return the packages that requirements name, for this system and without extras."""
    wanted = (Requirement(text) for text in requirements)
    return sorted(
        {
            canonicalize_name(requirement.name)
            for requirement in wanted
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        }
    )


def licences_of(package: LockedPackage) -> list[dict[str, Any]]:
    """Return what a package says about its licence, by the most exact of its fields."""
    installed = package.installed()
    if installed is None:
        return []
    fields = installed.metadata
    for expression in fields.get_all("License-Expression", []):
        return [{"expression": expression}]
    classifiers = fields.get_all("Classifier", [])
    names = [name.rpartition(" :: ")[2] for name in classifiers if name.startswith("License ::")]
    if not names:  # some give their licence's whole text, others its name
        names = [name for name in fields.get_all("License", []) if "\n" not in name]
    return [{"license": {"name": name}} for name in names]


def reached(names: Iterable[str], needs: Mapping[str, list[str]]) -> set[str]:
    """Return these packages and all that they need."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += needs.get(name, [])
    return found


def component(package: LockedPackage, *, runs: bool) -> dict[str, Any]:
    """Return the entry of a package; ``runs`` says whether it is needed at run time."""
    entry: dict[str, Any] = {
        "type": "library",
        "bom-ref": package.url,
        "name": package.name,
        "version": package.version,
        "scope": "required" if runs else "excluded",
        "purl": package.url,
        "externalReferences": [
            {
                "type": "distribution",
                "url": package.url,
                "comment": "The hashes of all files of this version: any of them may be installed.",
                "hashes": [{"alg": "SHA-256", "content": content} for content in package.hashes],
            }
        ],
    }
    if licences := licences_of(package):
        entry["licenses"] = licences
    if package.marker:
        entry["properties"] = [{"name": "python:marker", "value": package.marker}]
    return entry


def bill_of_materials(lock: str, project: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Return the bill of materials.

    Parameters
    ----------
    lock
        The text of the lock.
    project
        What ``pyproject.toml`` says.
    version
        The version of dfopt.
    """
    packages = locked_packages(lock)
    needs = {
        package.name: names_of(installed.requires or [])
        for package in packages
        if (installed := package.installed())
    }
    run = names_of(project["project"]["dependencies"])
    build = names_of(project["dependency-groups"]["build"])
    only_build = reached(build, needs) - reached(run, needs)
    root = {
        "type": "application",
        "bom-ref": f"pkg:pypi/dfopt@{version}",
        "name": "dfopt",
        "version": version,
        "description": project["project"]["description"],
        "licenses": [{"expression": project["project"]["license"]}],
        "purl": f"pkg:pypi/dfopt@{version}",
    }
    urls: dict[str, list[str]] = {}
    for package in packages:
        urls.setdefault(package.name, []).append(package.url)
    dependencies = {root["bom-ref"]: run} | {
        package.url: needs[package.name] for package in packages if package.installed()
    }
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": root},
        "components": [
            component(package, runs=package.name not in only_build) for package in packages
        ],
        "dependencies": [
            {"ref": ref, "dependsOn": [url for name in names for url in urls.get(name, [])]}
            for ref, names in dependencies.items()
        ],
    }
    # The same content has the same number, whenever and wherever it is made.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill, sort_keys=True))
    bill["serialNumber"] = f"urn:uuid:{number}"
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        made = datetime.fromtimestamp(int(epoch), UTC)
        bill["metadata"] = {"timestamp": f"{made:%Y-%m-%dT%H:%M:%SZ}", "component": root}
    return bill


if __name__ == "__main__":
    bill = bill_of_materials(
        (ROOT / "requirements" / "run.txt").read_text("utf-8"),
        tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8")),
        metadata.version("dfopt"),
    )
    json.dump(bill, sys.stdout, indent=2)
    sys.stdout.write("\n")
