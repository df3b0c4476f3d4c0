// Simulated annealing over the orders in which CPUs run the dispatches of a trace.
//
// Dispatches may be late for a while, which has a price. What is within all limits is kept if it is
// the cheapest so far.

#pragma once

#include "changes.hpp"

#include <array>
#include <utility>
#include <vector>

namespace dfopt::annealing {

// What is as bad as being late by a unit of time: a unit of time by which the sum of waits is too
// large, and a long wait above their permitted number.
struct ExcessPrices {
    double wait, long_wait;
};

class Annealing {
  public:
    // `chances` are equally likely limits of how much worse a change may be, in units of the
    // temperature. All arrays must live as long as the annealing.
    Annealing(const TraceRows& trace, const Bounds& bounds, ExcessPrices prices,
              Rows<double> chances, std::uint64_t seed);
    Annealing(const Annealing&) = delete; // its changes refer to its schedule
    Annealing& operator=(const Annealing&) = delete;

    // Starts every dispatch as early as the order permits. Returns whether nothing is late then.
    bool settle();

    // Tries random changes that begin with the dispatches `low` … `high` - 1; what follows from
    // them may lie outside. A unit of cost and a unit of lateness have prices.
    void anneal(Index low, Index high, std::int64_t changes, double temperature, double cost_price,
                double late_price);

    // From now on, `openers` of the schedule are those among the dispatches `low` … `high` - 1.
    void watch(Index low, Index high) { orders_.watch(low, high); }

    // Keeps the schedule as it is at one of two levels, to which `go_back_if_worse` may return.
    void keep(Index level) { orders_.keep(level); }
    void keep_if_better(Index level);
    void go_back_if_worse(Index level);

    // Where dispatches run.
    std::span<const Placement> placements();

    const TimedOrders& orders() const { return orders_; }

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
    std::pair<double, Cost> quality(const Totals& totals) const;
    double badness(const Totals& totals) const;

    TimedOrders orders_;
    Changes changes_;
    ExcessPrices prices_;
    Rows<double> chances_;
    std::vector<Placement> placements_;
};

} // namespace dfopt::annealing
