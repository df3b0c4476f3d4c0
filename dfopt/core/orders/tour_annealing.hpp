// Local search for tours: two neighbouring segments change places.
//
// That is the 3-opt move that turns no segment round (Kanellakis and Papadimitriou 1980), so it
// suits costs that depend on the direction. It changes three arcs, whatever the lengths of the
// segments. One of the new arcs is a cheap one (the candidate lists of Lin and Kernighan 1973).
// Simulated annealing decides which moves are made (Kirkpatrick, Gelatt and Vecchi 1983).

#pragma once

#include "../base.hpp"

#include <vector>

namespace dfopt::orders {

using Index = std::int32_t;

// What Python hands over; tables of all nodes stay where they are.
struct Tour {
    std::span<const std::int64_t> visits; // of each node; tasks are numbered node by node
    std::span<const std::int64_t> near;   // for each node those that follow it cheaply, or -1
    std::span<const Cost> costs;          // of the arcs, row = from, column = to
    std::span<const bool> precedes;       // whether a node (row) comes before another
};

class TourAnnealing {
  public:
    // `tour` names all nodes on its way.
    TourAnnealing(const Tour& problem, std::span<const std::int64_t> tour, std::uint64_t seed);

    // Goes back to the best tour.
    void restart();

    // Tries moves at one temperature.
    void walk(std::int64_t moves, double temperature);

    Cost best() const { return best_cost_; }
    Index size() const { return static_cast<Index>(tasks_.size()); }
    // Writes the nodes of the best tour.
    void write_best(std::span<std::int64_t> tour) const;

  private:
    Index below(Index limit) { return static_cast<Index>(random_.below(limit)); }
    Cost cost(Index one, Index other) const { return problem_.costs[one * nodes_ + other]; }
    void step(double temperature);
    void exchange(Index first, Index middle, Index after, double temperature);
    bool may_change_places(Index first, Index middle, Index after) const;

    const Tour problem_;
    const std::size_t nodes_, near_; // the number of nodes, and of those that are near a node
    bool has_order_ = false;         // whether some nodes between the ends precede others
    Random random_;
    std::vector<Index> first_;  // the first task of each node; those of one node follow each other
    std::vector<Index> node_;   // of each task
    std::vector<Index> tasks_;  // in their order
    std::vector<Index> places_; // of the tasks
    std::vector<Index> tour_;   // the nodes of the tasks
    Cost cost_ = 0, best_cost_ = 0;
    std::vector<Index> best_tasks_;
};

} // namespace dfopt::orders
