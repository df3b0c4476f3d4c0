// Simulated annealing over the orders in which CPUs run the dispatches of a trace.
//
// Every change leaves the schedule within all limits. A change that makes it dearer is made with a
// probability that falls with the temperature.

#pragma once

#include "changes.hpp"

#include <array>
#include <vector>

namespace dfopt::annealing {

class Annealing {
  public:
    // `chances` are equally likely limits of how much dearer a change may be, in units of the
    // temperature. All arrays must live as long as the annealing.
    Annealing(const TraceRows& trace, const Bounds& bounds, Rows<double> chances,
              std::uint64_t seed);
    Annealing(const Annealing&) = delete; // its changes refer to its schedule
    Annealing& operator=(const Annealing&) = delete;

    // Starts every dispatch as early as the order permits. Returns whether that is within all
    // limits.
    bool settle() { return orders_.settle(); }

    // From now on changes begin with the dispatches `low` … `high` - 1; what follows from them may
    // lie outside. Keeps the schedule as it is.
    void watch(Index low, Index high);

    // Tries random changes at a temperature, in units of cost.
    void anneal(std::int64_t changes, double temperature);

    // Keeps the schedule if it is cheaper than the one that was kept; returns to that one.
    void keep_if_cheaper();
    void go_back() { orders_.go_back(); }

    // Where dispatches run.
    std::span<const Placement> placements();

  private:
    struct Meeting {
        Index left, right;
    };
    // The pairs of elements that meet before and after a change.
    struct Meetings {
        std::array<Meeting, 4> before, after;
        std::size_t count;
    };
    Meetings meetings(const Change& change) const;
    bool make(const Change& change, const Meetings& met);

    TimedOrders orders_;
    Changes changes_;
    Rows<double> chances_;
    std::vector<Placement> placements_;
};

} // namespace dfopt::annealing
