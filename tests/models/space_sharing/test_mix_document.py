"""Mixes and thread graphs as files: what they mean, and what is wrong with them."""

import gzip
import json
import tomllib
from importlib import resources

import networkx as nx
import pytest
from jsonschema import Draft202012Validator

from dfopt.errors import DfoptError
from dfopt.files import schema
from dfopt_models.space_sharing import (
    Blocks,
    TimeSteps,
    WaveFront,
    read_mix,
    read_thread_graph,
    shipped_mixes,
    thread_graph_from_document,
)

SMALL = """
format = "dfopt-mix/1"
name = "small"
restart = false
[machine]
processors = 2
quantum = 0.1
[policy]
victim = "latest"
[application.A]
structure = "blocks"
work = 4.0
threads = 4
variation = 0.0
penalties = [{ quantum = 0.1, no_affinity = 0.25, affinity = { "*" = 0.125 } }]
[[job]]
application = "A"
copies = 2
"""

GRAPH = {
    "format": "dfopt-thread-graph/1",
    "nodes": [{"id": "a", "work": 1.5}, {"id": "b", "work": 2}],
    "edges": [{"source": "a", "target": "b"}],
}

COPIES = {
    "mix-1": {"MVA": 2},
    "mix-2": {"MVA": 1, "MATRIX": 1},
    "mix-3": {"MVA": 1, "GRAVITY": 1},
    "mix-4": {"GRAVITY": 2},
    "mix-5": {"MATRIX": 1, "GRAVITY": 1},
    "mix-6": {"MVA": 1, "MATRIX": 1, "GRAVITY": 1},
}


def test_shipped_mixes_are_those_of_table_2():
    assert set(shipped_mixes()) == {*COPIES, "symmetry"}
    for name, copies in COPIES.items():
        mix = read_mix(name)
        assert {entry.application.name: entry.copies for entry in mix.jobs} == copies
        assert mix.machine.processors == 16
        assert mix.machine.path_length == 750e-6
        assert mix.restart


def test_shipped_penalties_are_those_of_table_1():
    mix = read_mix("mix-6")
    found = {
        (entry.application.name, other): round(seconds * 1e6)
        for entry in mix.jobs
        for other, seconds in {
            None: entry.application.penalties.no_affinity,
            **entry.application.penalties.affinity,
        }.items()
    }
    assert found == {
        ("MATRIX", None): 1679, ("MATRIX", "MATRIX"): 737, ("MATRIX", "MVA"): 1166,
        ("MATRIX", "GRAVITY"): 815,
        ("MVA", None): 2330, ("MVA", "MATRIX"): 627, ("MVA", "MVA"): 1061,
        ("MVA", "GRAVITY"): 1103,
        ("GRAVITY", None): 2349, ("GRAVITY", "MATRIX"): 1793, ("GRAVITY", "MVA"): 2080,
        ("GRAVITY", "GRAVITY"): 1719,
    }  # fmt: skip


def test_shipped_applications():
    structures = {e.application.name: e.application.structure for e in read_mix("mix-6").jobs}
    assert isinstance(structures["MVA"], WaveFront)
    assert isinstance(structures["MATRIX"], Blocks)
    gravity = structures["GRAVITY"]
    assert isinstance(gravity, TimeSteps)
    assert (gravity.steps, gravity.phases, gravity.threads) == (51, 4, 1024)


def test_a_mix_by_itself(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    mix = read_mix(path)
    assert (mix.name, mix.restart, mix.runs) == ("small", False, 1)
    assert (mix.machine.processors, mix.machine.quantum) == (2, 0.1)
    assert mix.policy.victim == "latest"
    (entry,) = mix.jobs
    assert entry.copies == 2
    assert entry.application.structure == Blocks(work=4.0, threads=4, variation=0.0)
    assert entry.application.penalties.no_affinity == 0.25
    packed = tmp_path / "small.toml.gz"
    packed.write_bytes(gzip.compress(SMALL.encode()))
    assert read_mix(packed) == mix


def test_a_mix_on_a_base(tmp_path):
    (tmp_path / "base.toml").write_text(SMALL)
    over = tmp_path / "over.toml"
    over.write_text(
        'format = "dfopt-mix/1"\nbase = "base.toml"\n[machine]\nprocessors = 5\n'
        "[application.A]\nthreads = 8\n"
    )
    mix = read_mix(over)
    assert (mix.machine.processors, mix.machine.quantum) == (5, 0.1)
    (entry,) = mix.jobs
    assert entry.application.structure == Blocks(work=4.0, threads=8, variation=0.0)


def test_another_structure_than_the_bases(tmp_path):
    (tmp_path / "base.toml").write_text(SMALL)
    over = tmp_path / "over.toml"
    start = 'format = "dfopt-mix/1"\nbase = "base.toml"\n[application.A]\n'
    start += 'structure = "wave-front"\n'
    over.write_text(f"{start}rows = 2\ncolumns = 3\n")
    (entry,) = read_mix(over).jobs
    assert entry.application.structure == WaveFront(work=4.0, rows=2, columns=3, variation=0.0)
    over.write_text(f"{start}rows = 2\ncolumns = 3\nthreads = 6\n")
    with pytest.raises(DfoptError, match=r"application\.A\.threads: belongs to the kind 'blocks'"):
        read_mix(over)


def test_a_graph_from_a_file(tmp_path):
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH))
    (tmp_path / "mix.toml").write_text(
        'format = "dfopt-mix/1"\n[application.G]\nstructure = "graph"\nfile = "graph.json"\n'
        "penalties = [{ quantum = 0.4, no_affinity = 0.0, affinity = { G = 0.0 } }]\n"
        '[[job]]\napplication = "G"\n'
    )
    (entry,) = read_mix(tmp_path / "mix.toml").jobs
    graph = entry.application.structure.graph
    assert dict(graph.nodes(data="work")) == {"a": 1.5, "b": 2.0}
    assert list(graph.edges) == [("a", "b")]


def test_what_networkx_writes_is_read(tmp_path):
    graph = nx.DiGraph()
    for number in range(4):
        graph.add_node(number, work=1.0)
    graph.add_edges_from([(0, 1), (0, 2), (1, 3), (2, 3)])
    document = {"format": "dfopt-thread-graph/1", **nx.node_link_data(graph, edges="edges")}
    (tmp_path / "graph.json").write_text(json.dumps(document))
    assert read_thread_graph(tmp_path / "graph.json").most_parallel == 2
    older = {"format": "dfopt-thread-graph/1", **nx.node_link_data(graph, edges="links")}
    assert thread_graph_from_document(older).most_parallel == 2


WRONG = [
    ("processors = 2", "processors = 0", "machine.processors: must be at least 1"),
    ("processors = 2", "processors = 2.0", "machine.processors: must be an integer"),
    ("processors = 2", "procesors = 2", "unknown key; did you mean 'processors'"),
    ('victim = "latest"', 'victim = "last"', "policy.victim: must be one of 'random'"),
    ('victim = "latest"', "yield_delay = -1", "policy.yield_delay: must be at least 0"),
    ('victim = "latest"', "yield_delai = 1", "did you mean 'yield_delay'"),
    ('victim = "latest"', "review_interval = 1e-9", "must be 0, or at least 1e-06, not 1e-09"),
    ('victim = "latest"', 'match = "yes"', "policy.match: must be true or false"),
    ('victim = "latest"', "credit_decay = 0", "policy.credit_decay: must be more than 0"),
    ("work = 4.0", "work = -4.0", "application.A.work: must be more than 0"),
    ("work = 4.0", "", "application.A.work: is missing; the kind 'blocks' needs it"),
    ("work = 4.0", "work = inf", "application.A.work: NaN and infinite"),
    ("work = 4.0", "work = 4.0\nsteps = 3", "A.steps: belongs to the kind 'time-steps'"),
    ("threads = 4", "threads = 0", "application.A.threads: must be at least 1"),
    ('structure = "blocks"', 'structure = "block"', "must be one of 'blocks'"),
    ('structure = "blocks"', "", "application.A.structure: is missing"),
    ("quantum = 0.1\n[policy]", "quantum = 0.2\n[policy]", "application.A.penalties: must have a"),
    ("no_affinity = 0.25", "no_affinity = -1", "application.A.penalties[0].no_affinity: must be"),
    ('{ "*" = 0.125 }', "{ B = 0.125 }", "says nothing of 'A'"),
    ('{ "*" = 0.125 }', "0.125", "penalties[0].affinity: must be an object"),
    ('[[job]]\napplication = "A"', '[[job]]\napplication = "B"', "job[0].application: there is no"),
    ("copies = 2", "copies = 0", "job[0].copies: must be at least 1"),
    ("copies = 2", "copeis = 2", "job[0].copeis: unknown key; did you mean 'copies'"),
    ("copies = 2", "arrival = -1.0", "job[0].arrival: must be at least 0"),
    ("copies = 2", "arrival = 1e10", "job[0].arrival: must be at most 1e+09, not 10000000000.0"),
    ("copies = 2", "interarrival = 1e10", "job[0].interarrival: must be at most 1e+09"),
    ("penalties = [", 'penalties = [{ quantum = 0.1, no_affinity = 0.5, affinity = {} }, ',
     "application.A.penalties[1].quantum: 0.1 is there more than once; keep one row"),
    ('"blocks"\nwork = 4.0\nthreads = 4', '"wave-front"\nwork = 4.0\nrows = 9999\ncolumns = 9999',
     "application.A: has 99,980,001 threads, and 10,000,000 is the most; take fewer rows"),
    ('[[job]]\napplication = "A"\ncopies = 2', "", "job: the mix has no job"),
    ('format = "dfopt-mix/1"', "", "format: is missing"),
    ('format = "dfopt-mix/1"', 'format = "dfopt-instance/1"', "format: the file holds an instance"),
    ('name = "small"', 'name = "small"\nname = "b"', "column 11: this key is there more than once"),
    ('name = "small"', "name = ", "this is not TOML"),
    ('name = "small"', 'base = "nix.toml"', "there is no such file"),
    ('name = "small"', 'base = "mix.toml"', "base: stands on itself"),
    ("restart = false", "restart = 0", "restart: must be true or false"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "message"), WRONG)
def test_wrong_mixes_are_refused_in_one_line(tmp_path, right, wrong, message):
    assert right in SMALL
    path = tmp_path / "mix.toml"
    path.write_text(SMALL.replace(right, wrong, 1))
    with pytest.raises(DfoptError) as caught:
        read_mix(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))
    assert "\n" not in str(caught.value)


def test_time_steps_need_more_work_than_their_serial_part(tmp_path):
    path = tmp_path / "mix.toml"
    path.write_text('format = "dfopt-mix/1"\nbase = "mix-4"\n[application.GRAVITY]\nwork = 5.0\n')
    with pytest.raises(DfoptError, match=r"application\.GRAVITY\.work: must be more than the 5\."):
        read_mix(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "a"}]},
         "edges: the threads wait for each other in a circle ('a' → 'b' → 'a')"),
        ({"edges": [{"source": "a", "target": "a"}]}, "in a circle ('a' → 'a')"),
        ({"edges": [{"source": "a", "target": "c"}]}, "edges[0].target: 'c' is the id of no"),
        ({"edges": [{"source": "a"}]}, "edges[0].target: is missing"),
        ({"edges": GRAPH["edges"] * 2}, "edges[1]: is there more than once"),
        ({"nodes": [], "edges": []}, "nodes: has no thread"),
        ({"nodes": [{"id": "a", "work": 0}]}, "nodes[0].work: must be more than 0"),
        ({"nodes": [{"id": "a", "work": -1}]}, "nodes[0].work: must be more than 0"),
        ({"nodes": [{"id": "a", "work": "1"}]}, "nodes[0].work: must be a number"),
        ({"nodes": [{"id": "a"}]}, "nodes[0].work: is missing"),
        ({"nodes": [{"id": "a", "work": 1, "wrk": 1}]}, "did you mean 'work'"),
        ({"nodes": GRAPH["nodes"][:1] * 2}, "nodes[1].id: 'a' is there twice"),
        ({"directed": False}, "directed: must be true"),
        ({"multigraph": True}, "multigraph: must be false"),
        ({"links": []}, "links: is another name for 'edges'"),
        ({"format": "dfopt-trace/1"}, "format: the file holds a trace"),
    ],
)  # fmt: skip
def test_wrong_graphs_are_refused_in_one_line(tmp_path, change, message):
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(GRAPH | change))
    with pytest.raises(DfoptError) as caught:
        read_thread_graph(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_a_wrong_graph_of_a_mix_is_named_by_its_own_file(tmp_path):
    (tmp_path / "graph.json").write_text(json.dumps(GRAPH | {"nodes": [], "edges": []}))
    (tmp_path / "mix.toml").write_text(
        'format = "dfopt-mix/1"\n[application.G]\nstructure = "graph"\nfile = "graph.json"\n'
        '[[job]]\napplication = "G"\n'
    )
    with pytest.raises(DfoptError) as caught:
        read_mix(tmp_path / "mix.toml")
    assert str(caught.value).startswith(f"{tmp_path / 'graph.json'}: ")


def test_schemas_agree_with_the_readers():
    mix, graph = (Draft202012Validator(schema(name)) for name in ("mix", "thread-graph"))
    mix.validate(tomllib.loads(SMALL))
    graph.validate(GRAPH)
    folder = resources.files("dfopt_models.space_sharing") / "mixes"
    for name in shipped_mixes():
        mix.validate(tomllib.loads((folder / f"{name}.toml").read_text()))
    assert not graph.is_valid(GRAPH | {"directed": False})
    for right, wrong, message in WRONG:
        refused = ("unknown key", "policy.v", "policy.c", "must be at least", "must be at most")
        if any(words in message for words in refused):
            assert not mix.is_valid(tomllib.loads(SMALL.replace(right, wrong, 1)))
