"""Response-time models in files: what is written is read, and what is wrong is said."""

import gzip
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dfopt import replace
from dfopt.errors import DfoptError, FileError
from dfopt_models.errors import ModelError
from dfopt_models.response_time import RESPONSE_TIME, JobParameters, PolicyParameters, ResponseModel
from tests.strategies import response_models, texts

EXAMPLE = """\
format = "dfopt-response-model/1"
name = "Vaswani and Zahorjan, mix 5"
baseline = "equipartition"
reallocation_time = 750e-6           # seconds, path length of one reallocation

[[job]]
name = "MATRIX"
penalty_affinity = 815e-6            # P^A, seconds
penalty_no_affinity = 1679e-6        # P^NA, seconds
[job.policy.equipartition]
work = 717.9                         # processor-seconds
waste = 0.0
reallocations = 0
affinity = 1.0                       # fraction of reallocations
allocation = 8.0                     # processors
[job.policy.dynamic]
work = 717.9
waste = 0.0
reallocations = 2469
affinity = 0.21
allocation = 8.268
"""
JOB = EXAMPLE[EXAMPLE.index("[[job]]") :]


def is_a_name(text: str) -> bool:
    """Whether a policy may have this name; keys of one's own are no policies."""
    return bool(text) and not text.startswith("x-") and text != "$schema"


def test_the_example():
    model = RESPONSE_TIME.parse(EXAMPLE)
    assert model.baseline == "equipartition"
    assert model.reallocation_time == 750e-6
    assert model.job("MATRIX").policies["dynamic"] == PolicyParameters(
        work=717.9, waste=0.0, reallocations=2469, affinity=0.21, allocation=8.268
    )


@pytest.mark.slow
@given(model=response_models(jobs=2, ranged=True), name=texts.filter(is_a_name), source=texts)
def test_what_is_written_is_read(model, name, source):
    first, *others = model.jobs
    moving = replace(first.policies["moving"], baseline={"work": 5.0}, sources={"work": source})
    policies = {"still": first.policies["still"], name: moving}
    first = replace(first, policies=policies, sources={"penalty_affinity": "paper"})
    if name == "still":
        return
    model = replace(model, name=name, jobs=(first, *others), sources={"reallocation_time": "own"})
    assert RESPONSE_TIME.parse(RESPONSE_TIME.text(model)) == model


@pytest.mark.parametrize("ending", ["toml", "toml.gz"])
def test_files(tmp_path: Path, ending):
    path = tmp_path / f"model.{ending}"
    RESPONSE_TIME.write(RESPONSE_TIME.read("mix-5"), path)
    assert RESPONSE_TIME.read(path) == RESPONSE_TIME.read("mix-5")
    assert path.read_bytes().startswith(gzip.compress(b"")[:2]) == (ending == "toml.gz")


def test_a_file_names_a_model_without_a_name(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text(EXAMPLE.replace('name = "Vaswani and Zahorjan, mix 5"\n', ""))
    assert RESPONSE_TIME.read(path).name == "mine"


def test_shipped_models_are_in_the_package():
    assert "mix-5" in RESPONSE_TIME.shipped()
    for name in RESPONSE_TIME.shipped():
        assert (resources.files("dfopt_models") / "parameters" / f"{name}.toml").is_file()
        assert RESPONSE_TIME.read(name).jobs


def test_a_file_comes_before_a_shipped_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("mix-5").write_text(EXAMPLE.replace("mix 5", "mine"))
    assert RESPONSE_TIME.read("mix-5").name == "Vaswani and Zahorjan, mine"


def test_unknown_names_get_the_known_ones():
    with pytest.raises(FileError, match=r"mix-6: there is no such file.*comes with dfopt: mix-5"):
        RESPONSE_TIME.read("mix-6")


def without(key, text=EXAMPLE):
    return "".join(
        line for line in text.splitlines(keepends=True) if not line.startswith(f"{key} =")
    )


def changed(old, new):
    assert old in EXAMPLE
    return EXAMPLE.replace(old, new)


BAD = {
    "empty": ("", "is empty; it should hold a response-time model in TOML"),
    "JSON": ("{}", "line 1: this looks like JSON, but a response-time model is written in TOML"),
    "no TOML": (changed("= 8.268", "="), r"line 21, column 13: this is not TOML \(Invalid value\)"),
    "cut short": (EXAMPLE[:50], r"line 2: the document ends too early \(Unterminated string\)"),
    "twice": (
        changed("allocation = 8.268", "affinity = 0.3"),
        r"line 21, column 15: this key is there more than once",
    ),
    "table twice": (
        EXAMPLE + "[job.policy.dynamic]\n",
        r"line 22, column 20: this key is there more than once",
    ),
    "deep": (f"a = {'[' * 5000}", "is nested too deeply"),
    "digits": (f"a = {'9' * 5000}", "holds a number with too many digits"),
    "no format": (without("format"), "format: is missing"),
    "another format": (
        changed("response-model", "trace"),
        r"format: the file holds a trace \(dfopt-trace/1\), .*; a response-time model is due here",
    ),
    "no baseline": (without("baseline"), "baseline: is missing"),
    "unknown baseline": (
        changed('baseline = "equi', 'baseline = "Equi'),
        r"job\[0\].policy: job 'MATRIX' has 'equipartition', 'dynamic', but not the baseline",
    ),
    "baseline no text": (changed('"equipartition"', "1"), "baseline: must be a string, not 1"),
    "no jobs": (EXAMPLE[: EXAMPLE.index("[[job]]")], "job: is missing"),
    "empty jobs": (f"job = []\n{EXAMPLE[: EXAMPLE.index('[[job]]')]}", "job: is missing"),
    "one job": (changed("[[job]]", "[job]"), r"job: must be an array \[…\], not an object"),
    "jobs no tables": (
        f"job = [3]\n{EXAMPLE[: EXAMPLE.index('[[job]]')]}",
        r"job\[0\]: must be an object {…}, not 3",
    ),
    "no policies": (EXAMPLE[: EXAMPLE.index("[job.p")], r"job\[0\].policy: is missing"),
    "policies no tables": (
        EXAMPLE[: EXAMPLE.index("[job.p")] + "policy = 'dynamic'\n",
        r"job\[0\].policy: must be an object {…}, not 'dynamic'",
    ),
    "empty policies": (
        EXAMPLE[: EXAMPLE.index("[job.p")] + "[job.policy]\n",
        r"job\[0\].policy: job 'MATRIX' has none, but not the baseline",
    ),
    "policy no table": (
        EXAMPLE[: EXAMPLE.index("[job.p")] + "[job.policy]\ndynamic = 1\n",
        r"job\[0\].policy.dynamic: must be an object {…}, not 1",
    ),
    "two of a name": (EXAMPLE + JOB, r"job\[1\].name: 'MATRIX' is also the name of job\[0\]"),
    "no name": (without("name"), r"job\[0\].name: is missing"),
    "empty name": (changed('"MATRIX"', '""'), r"job\[0\].name: is empty; give it a name"),
    "unknown key": (
        changed("waste", "wast"),
        r"job\[0\].policy.equipartition.wast: unknown key; did you mean 'waste'\?",
    ),
    "unknown top key": ("jobs = 1\n" + EXAMPLE, r"jobs: unknown key; did you mean 'job'\?"),
    "missing number": (
        changed("affinity = 0.21\n", ""),
        r"job\[0\].policy.dynamic.affinity: is missing",
    ),
    "no allocation": (
        changed("8.268", "0"),
        r"job\[0\].policy.dynamic.allocation: must be at least 2\^-62, not 0",
    ),
    "no work": (
        changed("717.9\n", "0.0\n"),
        r"job\[0\].policy.dynamic.work: must be at least 2\^-62, not 0.0",
    ),
    "affinity in percent": (
        changed("0.21", "21"),
        r"job\[0\].policy.dynamic.affinity: must be at most 1, not 21",
    ),
    "negative affinity": (
        changed("0.21", "-0.21"),
        r"job\[0\].policy.dynamic.affinity: must be at least 0, not -0.21",
    ),
    "negative time": (
        changed("750e-6", "-750e-6"),
        "reallocation_time: must be at least 0, not -0.00075",
    ),
    "negative penalty": (
        changed("815e-6", "-1"),
        r"job\[0\].penalty_affinity: must be at least 0, not -1",
    ),
    "not a number": (
        changed("2469", "nan"),
        r"reallocations: must be finite and at most 2\^62, not nan",
    ),
    "infinite": (
        changed("2469", "inf"),
        r"reallocations: must be finite and at most 2\^62, not inf",
    ),
    "huge": (changed("2469", "1e300"), r"reallocations: must be finite and at most 2\^62, not 1e"),
    "huge integer": (
        changed("2469", "9" * 400),
        r"reallocations: must be finite and at most 2\^62, not a huge integer",
    ),
    "hardly any processor": (
        changed("8.268", "1e-320"),
        r"allocation: must be at least 2\^-62, not 1e-320",
    ),
    "text": (changed("2469", '"2469"'), r"reallocations: must be a number, not '2469'"),
    "truth": (changed("2469", "true"), r"reallocations: must be a number, not true"),
    "date": (changed("2469", "1991-09-01"), r"reallocations: must be a number, not 1991-09-01"),
    "range without ends": (
        EXAMPLE + "[job.policy.dynamic.x-range]\nwaste = 40\n",
        r"job\[0\].policy.dynamic.x-range.waste: must be an array of 2 values, not 40",
    ),
    "range the wrong way round": (
        EXAMPLE + "[job.policy.dynamic.x-range]\nwaste = [40, 0]\n",
        r"x-range.waste: must be \[least, greatest\], but 40 is more than 0",
    ),
    "range of huge integers": (
        EXAMPLE + f"[job.policy.dynamic.x-range]\nwaste = [{'9' * 400}, 0]\n",
        r"x-range.waste\[0\]: must be finite and at most 2\^62, not a huge integer",
    ),
    "range with three ends": (
        EXAMPLE + "[job.policy.dynamic.x-range]\nwaste = [0, 1, 2]\n",
        r"x-range.waste: must be an array of 2 values, not an array",
    ),
    "range beside its value": (
        EXAMPLE + "[job.policy.dynamic.x-range]\nwaste = [10, 40]\n",
        r"x-range.waste: must hold the value of waste, 0; it is from 10 to 40",
    ),
    "impossible range": (
        EXAMPLE + "[job.policy.dynamic.x-range]\naffinity = [0, 2]\n",
        r"x-range.affinity\[1\]: must be at most 1, not 2",
    ),
    "range of what is not there": (
        EXAMPLE + "[job.policy.dynamic.x-range]\npenalty_affinity = [0, 2]\n",
        r"x-range: there is no parameter \'penalty_affinity\'",
    ),
    "baseline of the baseline": (
        EXAMPLE + "[job.policy.equipartition.x-baseline]\nwork = 1\n",
        r"job\[0\].policy.equipartition.x-baseline: is for the other policies",
    ),
    "impossible baseline": (
        EXAMPLE + "[job.policy.dynamic.x-baseline]\nwork = -1\n",
        r"job\[0\].policy.dynamic.x-baseline.work: must be at least 2\^-62, not -1",
    ),
    "source no text": (
        EXAMPLE + "[job.policy.dynamic.x-source]\nwork = 3\n",
        r"job\[0\].policy.dynamic.x-source.work: must be a string, not 3",
    ),
    "sources no table": (
        EXAMPLE + "x-source = 'paper'\n",
        r"x-source: must be an object {…}, not 'paper'",
    ),
}


@pytest.mark.parametrize("flaw", BAD)
def test_bad_files(tmp_path: Path, flaw):
    text, message = BAD[flaw]
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(DfoptError, match=message) as error:
        RESPONSE_TIME.read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x7fELF\0\0", "is a binary file"),
        (b"a = 1\nb = '\xff'\n", "line 2: is not UTF-8 text"),
        (b"\xef\xbb\xbfa = 1", "byte order mark"),
        (gzip.compress(b"a = 1", mtime=0), "is compressed"),
    ],
    ids=["binary", "not UTF-8", "byte order mark", "compressed"],
)
def test_files_that_are_no_text(tmp_path: Path, data, message):
    path = tmp_path / "bad.toml"
    path.write_bytes(data)
    with pytest.raises(FileError, match=message):
        RESPONSE_TIME.read(path)


@given(st.text())
def test_no_text_is_too_odd(text):
    with pytest.raises(DfoptError) as error:
        RESPONSE_TIME.parse(text)
    assert "\n" not in str(error.value)


def test_keys_of_ones_own_are_free():
    assert RESPONSE_TIME.parse(
        f"x-mine = 3\n{EXAMPLE}[job.policy.dynamic.x-more]\na = 1\n"
    ) == RESPONSE_TIME.parse(EXAMPLE)


# Models made in Python


MOVING = PolicyParameters(work=1.0, waste=0.0, reallocations=1, affinity=0.5, allocation=1.0)
ONE = JobParameters(
    name="J", penalty_affinity=0.0, penalty_no_affinity=1.0, policies={"still": MOVING}
)


def test_models_made_in_python_are_checked_alike():
    with pytest.raises(DfoptError, match="allocation: must be at least 2"):
        replace(MOVING, allocation=0.0)
    with pytest.raises(ModelError, match="x-baseline: there is no parameter 'worc'; known are"):
        replace(MOVING, baseline={"worc": 1.0})
    with pytest.raises(ModelError, match="x-range: there is no parameter 'speed'; known are"):
        replace(MOVING, ranges={"speed": (1.0, 2.0)})
    with pytest.raises(ModelError, match="baseline: is empty"):
        ResponseModel(name="M", baseline="", reallocation_time=0.0, jobs=(ONE,))
    with pytest.raises(ModelError, match="policy: is empty"):
        replace(ONE, policies={"": MOVING})


def test_what_is_not_there_is_said():
    model = ResponseModel(name="M", baseline="still", reallocation_time=0.0, jobs=(ONE,))
    with pytest.raises(ModelError, match="there is no job 'K'; known are 'J'"):
        model.job("K")
    with pytest.raises(ModelError, match="no policy 'stil'; known are 'still'; did you mean"):
        model.case("J", "stil")
    with pytest.raises(ModelError, match="has no policy besides the baseline 'still'; add one"):
        model.comparisons()


def test_whose_ranges_a_comparison_has():
    still = replace(MOVING, ranges={"work": (0.5, 2.0), "waste": (0.0, 3.0)})
    moving = replace(MOVING, baseline={"work": 1.5}, ranges={"affinity": (0.4, 0.6)})
    job = replace(
        ONE,
        policies={"still": still, "moving": moving},
        ranges={"penalty_no_affinity": (0.5, 1.5)},
    )
    model = ResponseModel(
        name="M",
        baseline="still",
        reallocation_time=1.0,
        jobs=(job,),
        ranges={"reallocation_time": (0.5, 2.0)},
    )
    comparison = model.comparison("J", "moving")
    assert comparison.baseline.work == 1.5
    assert comparison.baseline_ranges == {"waste": (0.0, 3.0)}  # not of work, which is replaced
    assert comparison.ranges == {**model.ranges, **job.ranges, **moving.ranges}
