// Partial schedules of a section: some of its dispatches have been placed.

#pragma once

#include "section.hpp"

#include <algorithm>
#include <vector>

namespace dfopt::beam {

struct Waits {
    Time starts = 0; // the sum of all starts, less the times at which waits begin
    std::int64_t long_waits = 0;

    // Adds the wait of a dispatch that starts at a time, and its part of the next wait of its task:
    // from that wait's start will be subtracted when it begins.
    void add(const Section& section, const Element& dispatch, Time start, Time previous_end) {
        const Time long_wait = section.limits.long_wait;
        starts += start;
        long_waits += start - std::max(dispatch.since, previous_end) > long_wait;
        if (dispatch.next_since == far) return;
        const Time since = std::max(dispatch.next_since, start + dispatch.length);
        starts -= since;
        if (dispatch.next_start != nothing) long_waits += dispatch.next_start - since > long_wait;
    }
};

struct CpuState {
    Time free;
    Index before; // its last element
    Index passed; // what is fixed before this lies behind
    Index guided; // all dispatches of the guide before this have been placed
};

struct PartialSchedule {
    std::vector<Time> starts; // of each dispatch, or `far`
    std::vector<CpuState> cpus;
    std::vector<Index> placed;  // all dispatches before these places in Section::by_fragment have
    Index placed_by_latest = 0; // been placed, and all before this one in Section::by_latest
    Cost cost = 0;
    Time now = 0;            // the latest start so far
    std::uint64_t hash = 0;  // of how much has been placed of each fragment
    std::int64_t unlike = 0; // the number of dispatches that cannot start as early as in the guide
    bool safe = true;        // whether the guide can be followed from here on
    Time busy = 0;           // the time taken by dispatches and passed blocks
    Waits waits;
    std::vector<Time> sooner; // the work done without need by each time of Stock

    bool has(Index row) const { return starts[row] != far; }

    Time end_of(const Section& section, Index row) const {
        return starts[row] + section.elements[row].length;
    }

    // Returns when a dispatch is ready; `far` if what it waits for has not been placed.
    Time ready_time(const Section& section, Index row) const {
        const Element& dispatch = section.elements[row];
        Time ready = dispatch.low;
        if (dispatch.previous != nothing) {
            if (!has(dispatch.previous)) return far;
            ready = std::max(ready, end_of(section, dispatch.previous));
        }
        if (dispatch.waker != nothing) {
            if (!has(dispatch.waker)) return far;
            ready = std::max(ready, starts[dispatch.waker] + dispatch.offset);
        }
        return ready;
    }
};

} // namespace dfopt::beam
