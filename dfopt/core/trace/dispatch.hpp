// A dispatch of a trace, as the core reads it, and where one is placed.

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
    Time start, length;
    Index fragment;
    Time ready_by;
    Index previous, waker;
    Time waker_offset;
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

} // namespace dfopt
