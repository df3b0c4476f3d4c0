"""Least-cost flows against another solver."""

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dfopt.compare.attainable.placement.unit_flow import UnitNetwork, least_cost_flow, paths_of


@st.composite
def networks(draw: st.DrawFn) -> UnitNetwork:
    nodes = draw(st.integers(2, 7))
    pairs = [(tail, head) for tail in range(nodes) for head in range(tail + 1, nodes)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=14, unique=True))
    # Twice the same arc says nothing new; the arc from end to end is needed.
    arcs = sorted({(0, nodes - 1), *chosen})
    count = len(arcs)
    cost = draw(st.lists(st.integers(-5, 5), min_size=count, max_size=count))
    is_single = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    direct = arcs.index((0, nodes - 1))
    cost[direct], is_single[direct] = 0, False
    return UnitNetwork(
        nodes=nodes,
        tail=np.array([tail for tail, _ in arcs], np.int32),
        head=np.array([head for _, head in arcs], np.int32),
        cost=np.array(cost),
        is_single=np.array(is_single),
    )


@given(networks(), st.integers(1, 4))
def test_flows_cost_what_networkx_says(network: UnitNetwork, units: int) -> None:
    flow = least_cost_flow(network, units, lambda: None)
    graph = nx.DiGraph()
    graph.add_node(0, demand=-units)
    graph.add_node(network.nodes - 1, demand=units)
    columns = (network.tail, network.head, network.cost, network.is_single)
    for tail, head, cost, is_single in zip(*map(np.ndarray.tolist, columns), strict=True):
        graph.add_edge(tail, head, weight=cost, capacity=1 if is_single else units)
    # The other units went from end to end.
    assert (flow.used * network.cost).sum() == nx.min_cost_flow_cost(graph)


@given(networks(), st.integers(1, 4))
def test_prices_prove_the_flow(network: UnitNetwork, units: int) -> None:
    flow = least_cost_flow(network, units, lambda: None)
    reached = flow.price[network.tail] < 1 << 61
    price = flow.price
    reduced = (network.cost + price[network.tail] - price[network.head])[reached]
    used, is_single = flow.used[reached], network.is_single[reached]
    assert (reduced[~is_single | (used == 0)] >= 0).all()
    assert (reduced[used > 0] <= 0).all()


@given(networks(), st.integers(1, 4))
def test_paths_use_the_arcs_of_the_flow(network: UnitNetwork, units: int) -> None:
    single = UnitNetwork(
        nodes=network.nodes, tail=network.tail, head=network.head, cost=network.cost,
        is_single=np.append(np.ones(len(network.tail) - 1, bool), False)
        if network.tail[-1] == 0
        else (network.tail != 0) | (network.head != network.nodes - 1),
    )  # fmt: skip
    flow = least_cost_flow(single, units, lambda: None)
    unit = paths_of(single, flow, units)
    inner = (single.tail != 0) | (single.head != single.nodes - 1)
    assert ((unit[inner] >= 0) == (flow.used[inner] == 1)).all()
    for number in range(units):
        node = 0
        for arc in np.flatnonzero(inner & (unit == number)):
            assert single.tail[arc] == node
            node = single.head[arc]
        assert node in {0, single.nodes - 1}
