"""What the rest of a placement costs each CPU at least: prices of a flow.

The flow has a unit for each CPU, and every item is passed by one unit: a reward that exceeds all
costs makes sure of that. Where no CPU differs from another, a flow of least cost is a placement of
least cost. Otherwise its prices say what each item is worth. Let every CPU go for itself on the
cheapest way that its own blocks and cuts permit, and earn for each item what that is worth. All
CPUs together then cost no more than the best placement (a Lagrangian relaxation, Geoffrion 1974).
"""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush

from dfopt.compare.attainable.placement_network import FAR, SOURCE, PlacementNetwork


class CpuPrices:
    """A flow of least cost, and what it proves.

    Attributes
    ----------
    worth
        What each item is worth.
    rest
        For each CPU and code, what the CPU costs at least from now on, less what the items on its
        way are worth.
    bound
        No placement costs less.
    """

    def __init__(self, network: PlacementNetwork) -> None:
        self.network = network
        self.flow: Counter[tuple[int, int]] = Counter()
        distance = self._send_units()
        begin, finish = network.begin, network.finish
        self.worth = [
            distance[tail] - distance[head] for tail, head in zip(begin, finish, strict=True)
        ]
        arcs = [[*heads.items()] for heads in network.arcs]
        for item, worth in enumerate(self.worth):
            arcs[begin[item]].append((finish[item], -worth))
        for item, cut in network.across:
            arcs[begin[item]].append((network.forgot[cut] - 1, -self.worth[item]))
        cut_at = {item: network.forgot[cut] for item, cut in reversed(network.across)}
        nodes = [SOURCE, *network.forgot]
        nodes += [cut_at.get(item, SOURCE) for item in range(len(begin))]
        self.rest, self.bound = [], sum(self.worth)
        for cpu in range(network.items.cpus):
            rest = self._rest(cpu, arcs)
            # What an item leaves may be forgotten while it runs.
            after = [rest[node] + worth for node, worth in zip(begin, self.worth, strict=True)]
            self.rest.append(after + [rest[node] for node in nodes])
            self.bound += rest[SOURCE]

    def _send_units(self) -> list[int]:
        """Send a unit for each CPU on the shortest way; return how far nodes are at the end."""
        network = self.network
        left = [dict(heads) for heads in network.arcs]  # the arcs that may still be used
        singles = dict(zip(network.begin, network.finish, strict=True))
        reward = 1 + sum(max(heads.values(), default=0) for heads in left) * network.items.cpus
        for tail, head in singles.items():
            left[tail][head] = -reward
        cost = [dict(heads) for heads in left]
        singles.update((node - 1, node) for node in network.forgot)
        for unit in range(network.items.cpus + 1):
            distance, before = [FAR] * len(left), [SOURCE] * len(left)
            distance[SOURCE], queue, waiting = 0, [SOURCE], {SOURCE}
            # The first node first: only the ways of units lead back.
            while queue:
                tail = heappop(queue)
                waiting.discard(tail)
                for head, length in left[tail].items():
                    if distance[tail] + length < distance[head]:
                        distance[head], before[head] = distance[tail] + length, tail
                        if head not in waiting:
                            waiting.add(head)
                            heappush(queue, head)
            if unit == network.items.cpus:
                break
            head = len(left) - 1
            while head != SOURCE:
                tail = before[head]
                if tail < head:
                    self.flow[tail, head] += 1
                    left[head][tail] = -cost[tail][head]
                    if singles.get(tail) == head:
                        del left[tail][head]
                else:
                    self.flow[head, tail] -= 1
                    left[head][tail] = cost[head][tail]
                    if not self.flow[head, tail]:
                        del left[tail][head]
                head = tail
        return distance

    def _rest(self, cpu: int, arcs: list[list[tuple[int, int]]]) -> list[int]:
        """Return what the way of a CPU costs at least from each node on."""
        network, items = self.network, self.network.items
        closed = {network.begin[item] for item in (~items.allowed[:, cpu]).nonzero()[0]}
        closed.update(
            node - 1
            for node, (_, cut) in zip(network.forgot, items.cuts, strict=True)
            if cut != cpu
        )
        rest = [0] * len(arcs)
        for tail in range(len(arcs) - 2, -1, -1):
            rest[tail] = min(
                (length + rest[head] for head, length in arcs[tail] if head not in closed),
                default=FAR,
            )
        return rest

    def cpus(self) -> list[int]:
        """Return the CPU of each item in the flow, for a timeline on which CPUs do not differ."""
        network = self.network
        item_at = {node: item for item, node in enumerate(network.begin)}
        heads: dict[int, list[int]] = {}
        for (tail, head), units in self.flow.items():
            heads.setdefault(tail, []).extend([head] * units)
        cpus = [0] * len(network.begin)
        for cpu in range(network.items.cpus):
            node = SOURCE
            while node in heads:
                if node in item_at:
                    cpus[item_at[node]] = cpu
                node = heads[node].pop()
        return cpus
