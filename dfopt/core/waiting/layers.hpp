// Layers of partial schedules: from all with k tasks to those with k + 1.
//
// Of two rows of a layer that agree in their sets and groups of CPUs, one that is nowhere later
// makes the other one superfluous.

#pragma once

#include "partial_schedules.hpp"
#include "row_bound.hpp"

#include <bit>

namespace dfopt::waiting {

class Layers {
  public:
    // At most `width` rows of a layer are kept, those with the least guide. The first layer has the
    // row without tasks. The instance must stay where it is.
    Layers(const Instance& instance, std::int64_t width)
        : instance_(instance), width_(width), source_(instance, 2 * width_),
          target_(instance, 2 * width_), child_(instance, 1),
          table_(std::bit_ceil(4 * width_ + 1), nowhere), bound_(instance) {
        write_root(source_.append());
        child_.append();
    }

    static bool fit(const Instance&, std::int64_t width) { return width > 0; }

    // Adds tasks to rows, for some more pairs of a row and a task, one layer after the other. Only
    // what can end before `below` is kept. Returns whether some pairs are left.
    bool extend(std::int64_t pairs, Cost below);

    // Whether rows were dropped because there were too many.
    bool has_dropped() const { return has_dropped_; }

    // Finds the row of the last layer that ends first. Returns when that is, or `impossible`.
    Cost find_end();

    // Returns what leads to the row that was found.
    Rows<Dispatch> dispatches();

  private:
    void add(Index row, Index task, Cost below);
    void write_root(const Row& row) const;
    bool can_start(const Row& row, Index task) const;
    Cost begin_of(const Row& row, Index task, Index cpu) const;
    Index family_of(Index state) const;
    bool dispatch(const Row& from, Index task, Index cpu, const Row& to) const;
    void raise_floor(const Row& row) const;
    void settle(const Row& row, Cost bound) const;
    bool is_no_later(const Row& one, const Row& other) const;
    void advance();
    void keep(const Row& child);
    void keep_best();
    void list(Index row);
    Index& first_like(const Row& row);

    const Instance& instance_;
    const std::size_t width_;
    Layer source_, target_;
    Layer child_;              // the only row of it is being made
    std::int64_t next_ = 0;    // the pair of a row of the source and a task to extend next
    std::vector<Index> table_; // the first row of the target with each hash
    RowBound bound_;
    bool has_dropped_ = false;
    std::vector<std::vector<Step>> history_; // of each layer but the first one
    std::vector<Cost> guides_;
    Index found_ = 0;
    std::vector<Dispatch> listed_;
};

} // namespace dfopt::waiting
