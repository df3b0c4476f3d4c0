// The stock of idle time: how much time CPUs can lose before something has to be late.
//
// By a time t, each dispatch has run for at least min(length, t - latest start), and 0 if that is
// less. What CPUs have beyond that, free of blocks, is the slack of t. It is spent by CPUs that
// rest, and by work that has been done sooner than needed. A partial schedule that has spent more
// than the slack of a time to come cannot be completed.

#pragma once

#include "section.hpp"

#include <span>
#include <vector>

namespace dfopt::beam {

class Stock {
  public:
    explicit Stock(const Section& section);

    // The number of times that are looked at: the tightest ones of equal parts of the section.
    std::size_t times() const { return tightest_.size(); }

    // Returns how much of a dispatch need not have run by one of these times.
    Time not_needed(const Element& dispatch, std::size_t number) const;

    // Returns whether a partial schedule can still be in time after a dispatch follows. `sooner` is
    // the work that it did without need by each time, and CPUs are `free` from then on, after
    // `busy` time of dispatches and blocks.
    bool suffices(std::span<const Time> sooner, const Element& dispatch, std::span<const Time> free,
                  Time busy) const;

  private:
    struct Tight {
        Time time, slack;
    };

    Time begin_;             // no dispatch starts before
    Time free_at_first_ = 0; // the sum of when CPUs are free at first, at `begin_` or later
    std::vector<Tight> tightest_;
};

} // namespace dfopt::beam
