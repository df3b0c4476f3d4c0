// Partial schedules of a section: some of its dispatches have been placed.

#pragma once

#include "section.hpp"

#include <algorithm>
#include <vector>

namespace dfopt::beam {

struct Waits {
    Time total = 0;
    std::int64_t long_waits = 0;

    // Adds the wait from `since` to `until`, if that is later.
    void add(Time since, Time until, Time long_wait) {
        const Time wait = std::max<Time>(until - since, 0);
        total += wait;
        long_waits += wait > long_wait;
    }

    // Adds the wait of a dispatch that starts at a time, and that of the next one of its task if it
    // starts outside the section.
    void add(const Section& section, const Element& dispatch, Time start, Time previous_end) {
        const Time long_wait = section.limits.long_wait;
        add(std::max(dispatch.since, previous_end), start, long_wait);
        if (dispatch.next_start == none) return;
        add(std::max(dispatch.next_since, start + dispatch.length), dispatch.next_start, long_wait);
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
    Index placed_by_low = 0;    // all dispatches before this one have been placed,
    Index placed_by_latest = 0; // and all before this one in Section::by_latest
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

    // Returns when the wait of a dispatch begins; `far` if what is before it has not been placed.
    Time since(const Section& section, Index row) const {
        const Element& dispatch = section.elements[row];
        if (dispatch.previous == none) return dispatch.since;
        if (!has(dispatch.previous)) return far;
        return std::max(dispatch.since, end_of(section, dispatch.previous));
    }

    // Returns when a dispatch is ready; `far` if what it waits for has not been placed.
    Time ready_time(const Section& section, Index row) const {
        const Element& dispatch = section.elements[row];
        Time ready = dispatch.low;
        if (dispatch.previous != none) {
            if (!has(dispatch.previous)) return far;
            ready = std::max(ready, end_of(section, dispatch.previous));
        }
        if (dispatch.waker != none) {
            if (!has(dispatch.waker)) return far;
            ready = std::max(ready, starts[dispatch.waker] + dispatch.waker_offset);
        }
        return ready;
    }
};

} // namespace dfopt::beam
