// Simulated annealing over the orders in which the CPUs of a stretch run its dispatches.
//
// Dispatches may be late for a while, which has a price. What is within all limits is kept if it is
// the cheapest so far.

#pragma once

#include "changes.hpp"
#include "stretch.hpp"

#include <array>
#include <compare>
#include <optional>

namespace dfopt::stretch {

// What is as bad as being late by a unit of time: a unit of time by which the sum of waits is too
// large, and a long wait above their permitted number.
struct ExcessPrices {
    double wait, long_wait;
};

class Annealing {
  public:
    // `chances` are equally likely limits of how much worse a change may be, in units of the
    // temperature.
    Annealing(Surroundings around, std::vector<Element> elements, Totals totals,
              ExcessPrices prices, std::vector<double> chances, std::uint64_t seed);
    Annealing(const Annealing&) = delete; // its stretch refers to its surroundings
    Annealing& operator=(const Annealing&) = delete;

    // Starts every dispatch as early as the order permits. Returns whether nothing is late then.
    bool settle();

    // Tries random changes that begin with the dispatches `low` … `high` - 1; what follows from
    // them may lie outside. A unit of cost and a unit of lateness have prices.
    void anneal(Index low, Index high, std::int64_t changes, double temperature, double cost_price,
                double late_price);

    // Keeps the schedule as it is, to which `go_back_if_worse` may return.
    void keep() { kept_ = stretch_; }
    void go_back_if_worse();

    // Goes back to the cheapest schedule.
    void take_cheapest() { stretch_ = *cheapest_; }

    const Stretch& stretch() const { return stretch_; }

  private:
    struct Meeting {
        Index left, right;
    };
    // The pairs of elements that meet before and after a change.
    struct Meetings {
        std::array<Meeting, 4> before, after;
        std::size_t count;
    };
    struct Quality {
        double badness;
        Cost cost;
        auto operator<=>(const Quality&) const = default;
    };

    Meetings meetings(const Change& change) const;
    double badness() const { return badness_of(stretch_); }
    double badness_of(const Stretch& stretch) const;
    Quality quality_of(const Stretch& stretch) const;

    const Surroundings around_;
    Stretch stretch_;
    Changes changes_;
    ExcessPrices prices_;
    std::vector<double> chances_;
    std::optional<Stretch> cheapest_, kept_;
};

} // namespace dfopt::stretch
