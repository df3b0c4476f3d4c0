// Cuts of least capacity between nodes, found by maximum flows.

#pragma once

#include "../base.hpp"

#include <vector>

namespace dfopt::orders {

using Index = std::int32_t;

class Network {
  public:
    // `capacities` has a row for each node from which arcs lead.
    Network(std::span<const double> capacities, std::size_t nodes);

    std::size_t nodes() const { return first_.size(); }

    // Returns the maximum flow between two nodes where some other nodes are left out. A flow of at
    // least `enough` is not made larger; for smaller ones `side` has the nodes on the side of the
    // source of a cut of this capacity.
    double flow(Index source, Index sink, std::span<const bool> removed, double enough,
                std::span<bool> side);

  private:
    bool find_way(Index source, Index sink, std::span<const bool> removed);

    // Arc 2a leads forwards, arc 2a + 1 backwards.
    struct Arc {
        Index head;
        Index following; // the next arc from the same node, or -1
        double capacity;
        double free; // how much more can flow
    };

    std::vector<Arc> arcs_;
    std::vector<Index> first_;      // an arc from each node, or -1
    std::vector<Index> reached_by_; // the arc to each node on the way, or one of two numbers
    std::vector<Index> queue_;
};

} // namespace dfopt::orders
