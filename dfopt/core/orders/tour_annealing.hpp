// Local search for tours: two neighbouring segments change places.
//
// That is the 3-opt move that turns no segment round (Kanellakis and Papadimitriou 1980), so it
// suits costs that depend on the direction. It changes three arcs, whatever the lengths of the
// segments. One of the new arcs is a cheap one (the candidate lists of Lin and Kernighan 1973).
// Simulated annealing decides which moves are made (Kirkpatrick, Gelatt and Vecchi 1983).

#pragma once

#include "../calls.hpp"

#include <vector>

namespace dfopt::orders {

using Index = std::int32_t;

class TourAnnealing {
  public:
    // `visits` says how often each node is visited; tasks are numbered node by node. `near` has for
    // each node those that follow it cheaply, or -1. `costs` are those of the arcs (row = from,
    // column = to), `precedes` says whether a node (row) comes before another. `tour` names all
    // nodes on its way.
    TourAnnealing(Integers visits, Integers near, Integers costs, Flags precedes, Integers tour,
                  std::uint64_t seed)
        : visits_(visits), near_(near), costs_(costs), precedes_(precedes), nodes_(visits.size()),
          near_each_(near.size() / nodes_), random_(seed), places_(tour.size()) {
        for (std::size_t node = 0; node < nodes_; ++node) {
            first_.push_back(static_cast<Index>(node_.size()));
            node_.insert(node_.end(), visits[node], static_cast<Index>(node));
            for (std::size_t other = 1; other + 1 < nodes_ && node > 0; ++other) {
                has_order_ = has_order_ || precedes[node * nodes_ + other];
            }
        }
        std::vector<Index> next = first_;
        for (const std::int64_t node : tour) best_tasks_.push_back(next[node]++);
        for (std::size_t place = 1; place < tour.size(); ++place) {
            best_cost_ +=
                cost(static_cast<Index>(tour[place - 1]), static_cast<Index>(tour[place]));
        }
        restart();
    }
    static bool fit(Integers visits, Integers near, Integers costs, Flags precedes, Integers,
                    std::uint64_t) {
        const std::size_t nodes = visits.size();
        return nodes > 0 && near.size() % nodes == 0 && costs.size() == nodes * nodes &&
               precedes.size() == costs.size();
    }

    // Goes back to the best tour. Returns what that costs.
    Cost restart();

    // Tries moves at one temperature.
    void walk(std::int64_t moves, double temperature);

    // Returns the nodes of the best tour.
    Integers best();

  private:
    Index size() const { return static_cast<Index>(tasks_.size()); }
    Cost cost(Index one, Index other) const { return costs_[one * nodes_ + other]; }
    void step(double temperature);
    void exchange(Index first, Index middle, Index after, double temperature);
    bool may_change_places(Index first, Index middle, Index after) const;

    const Integers visits_, near_;
    const Integers costs_;
    const Flags precedes_;
    const std::size_t nodes_, near_each_; // the number of nodes, and of those that are near a node
    bool has_order_ = false;              // whether some nodes between the ends precede others
    Random random_;
    std::vector<Index> first_;  // the first task of each node; those of one node follow each other
    std::vector<Index> node_;   // of each task
    std::vector<Index> tasks_;  // in their order
    std::vector<Index> places_; // of the tasks
    std::vector<Index> tour_;   // the nodes of the tasks
    Cost cost_ = 0, best_cost_ = 0;
    std::vector<Index> best_tasks_;
    std::vector<std::int64_t> listed_;
};

} // namespace dfopt::orders
