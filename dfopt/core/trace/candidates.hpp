// Which dispatches could be the next ones of a partial schedule.

#pragma once

#include "partial_schedule.hpp"

#include <array>
#include <vector>

namespace dfopt::beam {

class Candidates {
  public:
    // Of those dispatches of a fragment that may be waited for.
    struct OfFragment {
        Index soonest = none; // the one that is ready first
        Time soonest_ready = far;
        Index most_urgent = none;
        Time urgent_latest = never; // its latest start
    };

    struct Urgent {
        Index row;
        Time ready;
    };

    // `ahead` dispatches that are not ready yet may be waited for, and `most_urgent` urgent ones
    // are noted.
    Candidates(const Section& section, Index ahead, Index most_urgent);

    // Notes what could come next.
    void survey(PartialSchedule& partial);

    // Returns what could come next of a fragment on a CPU: the most urgent dispatch that is ready
    // when the CPU is free; the most urgent and the longest one of those that also end before the
    // next block; the first (if none is ready) and the most urgent one of those that may be waited
    // for. Each of them stands there once; in place of others stands `none`.
    std::array<Index, 5> choices(Index cpu, Index fragment) const;

    // The fragments of which something could come next.
    std::span<const Index> fragments() const { return fragments_; }

    const OfFragment& of(Index fragment) const { return of_fragments_[fragment]; }

    // The number of dispatches that wait, and the sum of the times since when they do.
    std::int64_t waiting() const { return waiting_; }
    Time since() const { return since_; }

    // The dispatches that have to start soonest.
    std::span<const Urgent> urgent() const { return urgent_; }

  private:
    struct OnCpu {
        Index released = none, fitting = none, longest = none;
    };

    Time gap(const PartialSchedule& partial, Index cpu) const;
    void note(const PartialSchedule& partial, Index row, Time reach);
    void survey_urgent(PartialSchedule& partial);

    std::int64_t waiting_ = 0;
    Time since_ = 0;
    const Section& section_;
    const Index ahead_, most_urgent_;
    std::vector<Index> fragments_;
    std::vector<OfFragment> of_fragments_;
    std::vector<OnCpu> ready_; // by fragment, then CPU
    std::vector<Urgent> urgent_;
    std::vector<Time> gaps_;   // of each CPU, until the next block
    std::vector<Time> starts_; // when each CPU can go on
};

} // namespace dfopt::beam
