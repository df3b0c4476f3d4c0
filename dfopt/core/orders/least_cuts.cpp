#include "least_cuts.hpp"

#include <algorithm>

namespace dfopt::orders {

namespace {

// Less than this does not flow.
constexpr double tiny = 1e-9;

// More than flows out of any node.
constexpr double much = 2.0;

constexpr Index no_arc = -1, not_reached = -1, is_source = -2;

} // namespace

Network::Network(std::span<const double> capacities, std::size_t nodes)
    : first_(nodes, no_arc), reached_by_(nodes) {
    const double* next = capacities.data();
    for (std::size_t tail = 0; tail < nodes; ++tail) {
        for (std::size_t head = 0; head < nodes; ++head) {
            const double capacity = *next++;
            if (!(capacity > tiny) || tail == head) continue;
            const auto arc = static_cast<Index>(arcs_.size());
            arcs_.push_back({static_cast<Index>(head), first_[tail], capacity, 0});
            arcs_.push_back({static_cast<Index>(tail), first_[head], 0, 0});
            first_[tail] = arc;
            first_[head] = arc + 1;
        }
    }
}

double Network::flow(Index source, Index sink, std::span<const bool> removed, double enough,
                     std::span<bool> side) {
    for (Arc& arc : arcs_) arc.free = arc.capacity;
    double total = 0;
    while (total < enough) {
        if (!find_way(source, sink, removed)) {
            for (std::size_t node = 0; node < nodes(); ++node) {
                side[node] = reached_by_[node] != not_reached;
            }
            break;
        }
        double least = much;
        for (Index node = sink; node != source; node = arcs_[reached_by_[node] ^ 1].head) {
            least = std::min(least, arcs_[reached_by_[node]].free);
        }
        for (Index node = sink; node != source; node = arcs_[reached_by_[node] ^ 1].head) {
            arcs_[reached_by_[node]].free -= least;
            arcs_[reached_by_[node] ^ 1].free += least;
        }
        total += least;
    }
    return total;
}

// Finds the shortest way on which more can flow (Edmonds and Karp 1972). Returns whether there is
// one.
bool Network::find_way(Index source, Index sink, std::span<const bool> removed) {
    std::ranges::fill(reached_by_, not_reached);
    reached_by_[source] = is_source;
    queue_.assign(1, source);
    for (std::size_t next = 0; next < queue_.size() && reached_by_[sink] == not_reached; ++next) {
        for (Index arc = first_[queue_[next]]; arc != no_arc; arc = arcs_[arc].following) {
            const Index head = arcs_[arc].head;
            if (arcs_[arc].free > tiny && reached_by_[head] == not_reached && !removed[head]) {
                reached_by_[head] = arc;
                queue_.push_back(head);
            }
        }
    }
    return reached_by_[sink] != not_reached;
}

} // namespace dfopt::orders
