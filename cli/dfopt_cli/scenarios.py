"""Scenarios that a command line names: shipped ones, files, and recorded traces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from typer import BadParameter

from dfopt.errors import DfoptError
from dfopt.files.formats import toml_format
from dfopt.files.streams import shown_name
from dfopt.files.strict_toml import parse_toml
from dfopt.structs import replace
from dfopt_cli.cost_options import CostOptions, model_choice
from dfopt_cli.failures import naming
from dfopt_cli.options import given
from dfopt_cli.trace_files import (
    labelled_if_possible,
    names_of,
    tell_source,
    tell_warnings,
)
from dfopt_cli.trace_options import LabelOptions

if TYPE_CHECKING:
    from dfopt.compare.cost_model_choice import ModelChoice
    from dfopt.problem.cache_domains import CacheDomains
    from dfopt.simulate.scenario import Scenario
    from dfopt.trace import Trace

ALL = "all"
STANDARD_INPUT = "-"
TOML = ".toml"
CPUS = "machine.cpus"

BARE_WORD = re.compile(r"([A-Za-z]|\.{0,2}/)[\w./:-]*")
"""A text that needs no quotes on the command line, unlike in TOML."""


def settings_of(
    texts: Sequence[str], *, cpus: int | None = None, domains: CacheDomains | None = None
) -> dict[str, object]:
    """Return the values that ``KEY=VALUE`` set, ``--cpus`` and ``--domains``.

    Any other text is wrong usage, and so are two values for one key.
    """
    settings: dict[str, object] = {}
    options = (("--cpus", CPUS, cpus), ("--domains", "machine.domains", domains))
    given = [option for option in options if option[-1] is not None]
    for option, key, value in [*given, *(("--set", *_setting(text)) for text in texts)]:
        if settings.setdefault(key, value) != value:
            raise BadParameter(
                f"{key} is set to {settings[key]} and to {value}; give one", param_hint=option
            )
    return settings


def _setting(text: str) -> tuple[str, object]:
    key, equals, value = (part.strip() for part in text.partition("="))
    if not (key and equals and value):
        raise BadParameter(f"{text!r} is not KEY=VALUE, such as rooms=20", param_hint="--set")
    try:
        document = parse_toml(f"value = {value}", what="a value")
    except DfoptError:
        from dfopt.simulate.scenario_document import TIME_WITH_UNIT

        if BARE_WORD.fullmatch(value) or TIME_WITH_UNIT.fullmatch(value):
            return key, value
        document = {}
    if list(document) != ["value"]:
        raise BadParameter(
            f"{key}: {value!r} is no value of TOML, such as 20, 0.5, true or [1, 2]",
            param_hint="--set",
        )
    return key, document["value"]


def scenarios_of(
    names: Sequence[str], settings: Mapping[str, object], labels: LabelOptions, costs: CostOptions
) -> list[Scenario]:
    """Return the scenarios that are asked for; options that none of them takes are wrong usage.

    Raises
    ------
    DfoptError
        When one cannot be read, or a setting does not fit it.
    """
    from dfopt.simulate.scenario_document import (
        read_scenario,
        scenario_of_trace,
        scenario_of_workload,
        shipped_scenarios,
    )
    from dfopt.simulate.workloads.own_workload import is_own_workload
    from dfopt.user_code import PYTHON

    listed = list(
        dict.fromkeys(
            scenario
            for name in names
            for scenario in (shipped_scenarios() if name == ALL else (name,))
        )
    )
    own = [
        name
        for name in listed
        if is_own_workload(name) and (name.endswith(PYTHON) or not Path(name).exists())
    ]
    recorded = [name for name in listed if name not in own and is_recorded(name)]
    if not recorded and given(labels, costs):
        raise BadParameter(
            "the options about labels and costs are for recorded traces; change a scenario with "
            "--set, such as --set penalty.write_back=0"
        )
    choice = model_choice(costs)
    options = iter(labels.of_each(len(recorded)) if recorded else ())
    found = []
    names_of_recorded = dict(zip(recorded, short_names(recorded), strict=True))
    for name in listed:
        if name in recorded:
            trace = recorded_trace(name, next(options), choice)
            with naming(name):
                scenario = scenario_of_trace(trace, settings, name=names_of_recorded[name])
                found.append(replace(scenario, file=shown_name(name)))
        elif name in own:
            with naming(name):
                found.append(replace(scenario_of_workload(name, settings), file=shown_name(name)))
        else:
            with naming(name):
                found.append(read_scenario(name, settings))
    return found


def is_recorded(name: str) -> bool:
    """Return whether a name means a recorded trace."""
    from dfopt.simulate.scenario_document import SCENARIOS

    is_file = name == STANDARD_INPUT or Path(name).exists()
    if SCENARIOS.is_shipped(name) or not is_file:
        return False  # its reader says what there is instead
    with naming(name):
        return toml_format(name) is None and not name.endswith(TOML)


def short_names(files: Sequence[str]) -> list[str]:
    """Return a name for each recording: the shortest part of its file's name that is unique."""
    whole = names_of(files)
    short = [_without_endings(name) for name in whole]
    count = Counter(short)
    return [long if count[name] > 1 else name for long, name in zip(whole, short, strict=True)]


def _without_endings(name: str) -> str:
    if name.startswith("/dev/"):
        return "recording"
    return PurePath(name).name.lstrip(".").split(".")[0] or "recording"


def recorded_trace(file: str, labels: LabelOptions, choice: ModelChoice) -> Trace:
    """Return a recording with labels, costs, lines and states; doubts go to standard error."""
    from dfopt.compare.cost_model_choice import with_dispatch_costs
    from dfopt.trace.trace import UNMANAGED

    trace, source = labelled_if_possible(file, labels)
    if not given(labels):
        tell_source(file, source)
    tell_warnings(file, trace.quality.warnings)
    if not (trace.fragment != UNMANAGED).any():
        tell_warnings(file, ["no dispatch has a fragment, so nothing is paid; --df says which"])
    with naming(file):
        return with_dispatch_costs(trace, choice)
