// Random changes of the order in which dispatches run: two segments change places.
//
// A *segment* is some dispatches in a row on a CPU, perhaps none: then a change moves the other
// segment.

#pragma once

#include "timed_orders.hpp"

namespace dfopt::annealing {

struct Change {
    Index begin = none, end = none;             // the first segment; none if nothing changes
    Index other_begin = none, other_end = none; // the second one; none if the first one moves
    Index behind = none;                        // if it moves, behind which element it goes
};

class Changes {
  public:
    Changes(const TimedOrders& orders, Random random) : random(random), orders_(orders) {}

    // Makes up a change whose first segment begins with one of the dispatches that are watched, or
    // with one of the same visit.
    Change propose();

    Random random;

  private:
    Index first();
    Index near_in_fragment(Index element);
    Index near(Index element);
    std::int64_t random_distance();
    Index visit_begin(Index element) const;
    Index visit_end(Index element, std::int64_t most) const;
    Index visits_end(Index element, std::int64_t visits) const;
    bool is_between(Index element, Index begin, Index end) const;
    Change move(Index begin, Index end, Index behind) const;

    const TimedOrders& orders_;
};

} // namespace dfopt::annealing
