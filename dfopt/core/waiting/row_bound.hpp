// A lower bound on what can come of a partial schedule.

#pragma once

#include "partial_schedules.hpp"

namespace dfopt::waiting {

class RowBound {
  public:
    explicit RowBound(const Instance& instance);

    struct Bounds {
        Cost end;   // nothing that comes of the row ends earlier
        Cost total; // m times the bound by work alone
    };
    Bounds of(const Row& row);

  private:
    Index count_fragments(const Row& row);
    Bounds by_heads(const Row& row, Cost end);

    // The tasks of a fragment that are left.
    struct FragmentLeft {
        Index tasks;
        Cost entry; // the cheapest of them
    };

    const Instance& instance_;
    std::vector<FragmentLeft> left_;
    std::vector<const Cpu*> open_;    // the CPUs that can hold another task
    std::vector<const Cpu*> awaited_; // those for whose last tasks others wait
};

} // namespace dfopt::waiting
