// The beam search of one section: one dispatch after the other is placed, in all partial schedules
// that are kept, and of what that gives the best ones are kept again.

#pragma once

#include "children.hpp"

#include <optional>
#include <vector>

namespace dfopt::beam {

// A schedule of a section, beside its guide.
struct Found {
    std::vector<Placement> placements; // of each dispatch
    // By how much the cost, the sum of all waits and the number of long ones change.
    Cost cost;
    Time wait;
    std::int64_t long_waits;
    Cost guide_cost;
};

class BeamSearch {
  public:
    BeamSearch(const Section& section, const Settings& settings);

    // Places this number of dispatches more. Returns the number of those that are left: 0 also if
    // no partial schedule can be gone on with.
    Index place(Index dispatches);

    // Returns the best one of the complete schedules that are within the limits; nothing if there
    // is none.
    std::optional<Found> best() const;

  private:
    struct Step {
        Index parent, row, cpu;
    };

    struct Total {
        Cost cost = 0;
        Waits waits;
    };

    void keep_children();
    void make(const Child& child);
    Total total_of_guide() const;
    Found traced(Index kept, const Total& total, const Total& of_guide) const;

    const Section& section_;
    const Settings settings_;
    Children children_;
    std::vector<PartialSchedule> partials_, next_; // those that are gone on with, and one longer
    Index kept_ = 1;                               // the number of those that are gone on with
    std::vector<std::vector<Step>> steps_;         // that led to them, one dispatch after the other
};

} // namespace dfopt::beam
