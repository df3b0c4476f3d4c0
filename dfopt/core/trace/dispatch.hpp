// A dispatch of a trace, as the core reads it, what is known of a trace, and where one is placed.

#pragma once

#include "../base.hpp"

namespace dfopt {

using Time = std::int64_t;
using Index = std::int64_t;

// Stands for a dispatch, a CPU or a fragment where there is none.
constexpr Index none = -1;

// The fragment of a dispatch that leaves none in the cache, as in dfopt/compare/dispatches.py; one
// that leaves the cache as it is has a smaller one.
constexpr Index evicts = -1;

// A time after everything that happens.
constexpr Time never = Time{1} << 62;

// As in Dispatches of dfopt/compare/dispatches.py.
struct Dispatch {
    Index cpu;
    Time start = 0, length = 0;
    Index fragment = evicts;
    Time ready_by = 0;
    Index previous = none, waker = none;
    Time waker_offset = 0;
    Cost entry = 0, exit = 0, always = 0, first = 0, last = 0;
};

// From a time on nothing is known about the cache of a CPU.
struct Cut {
    Index cpu;
    Time time;
};

struct Placement {
    Time start;
    Index cpu = none;
};

// A schedule of a trace, and what limits other ones, as in dfopt/native/trace.py.
struct TraceRows {
    Rows<Dispatch> dispatches; // those that may move, each after `previous` and `waker`
    Rows<Dispatch> fixed;      // what keeps its CPU and its time, by CPU and start
    Rows<Cut> cuts;            // by CPU and time
    Rows<Time> latest;         // the latest start of each that may move, or `never`
    Integers matrix;           // costs between fragments, row by row, or empty
    Index fragments;           // its width
    Index cpus;

    Index size() const { return std::ssize(dispatches); }

    // Returns whether the arrays fit each other.
    bool fits() const {
        return cpus > 0 && latest.size() == dispatches.size() &&
               std::ssize(matrix) == (matrix.empty() ? 0 : fragments * fragments);
    }
};

// Returns what it costs that one dispatch follows another one on a CPU. `matrix` is empty, or has
// the costs between `fragments` fragments, row by row.
inline Cost switch_cost(const Dispatch& last, const Dispatch& next, Integers matrix,
                        Index fragments) {
    if (!matrix.empty()) return matrix[last.fragment * fragments + next.fragment];
    const bool changes = last.fragment != next.fragment || last.fragment == evicts;
    return last.always + (changes ? last.exit + next.entry : 0);
}

// The next dispatch of each one's task, the first one that it wakes, and the next one that its
// waker wakes.
struct Followers {
    std::vector<Index> next, woken, sibling;

    explicit Followers(Rows<Dispatch> dispatches)
        : next(dispatches.size(), none), woken(next), sibling(next) {
        for (Index number = 0; number < std::ssize(dispatches); ++number) {
            const Dispatch& dispatch = dispatches[number];
            if (dispatch.previous != none) next[dispatch.previous] = number;
            if (dispatch.waker == none) continue;
            sibling[number] = woken[dispatch.waker];
            woken[dispatch.waker] = number;
        }
    }
};

} // namespace dfopt
