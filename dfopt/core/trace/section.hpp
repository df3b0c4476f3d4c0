// A section of a schedule, as the beam search reads it.
//
// A *section* is some dispatches that follow each other in the order of their starts. What runs
// before and after them keeps its CPU and its time. An *element* is a dispatch of the section, the
// dispatch of a CPU before or after it, or a block that evicts.

#pragma once

#include "dispatch.hpp"

namespace dfopt::beam {

// Stands for an element where there is none.
constexpr Index nothing = -1;

// Stands for the last element of a CPU after a cut.
constexpr Index unknown = -2;

// A time after all others; its negative is before them.
constexpr Time far = Time{1} << 60;

struct Element {
    Index fragment;                        // below 0 for a block
    Cost entry, exit, always, first, last; // as in Dispatches of dfopt/compare

    // For the dispatches of the section only.
    Time length;
    Time low;             // when it can start at the earliest, whatever comes before it
    Time since;           // when its wait begins at the earliest
    Time latest;          // its latest start
    Index previous, next; // the dispatches before and after it of its task
    Index waker;
    Time offset;       // from the start of the waker
    std::int64_t code; // a random number, of its own or of its fragment
    Time guide_start;
    Time next_since; // when the dispatch after it is woken, or `far`
    Time next_start; // when that one starts if it lies outside the section, or `nothing`
};

enum class Role : std::int64_t { plain, evicts, cut };

// What stands between dispatches: a block, or a cut.
struct Fixed {
    Time start, end;
    Role role;
    Index element; // if it evicts
};

struct Cpu {
    Index fixed_first, fixed_end; // what may lie ahead
    Time free_from;
    Index element_before, element_after; // those around the section
    Index passed_at_end;                 // what is fixed before the element after it
};

struct Limits {
    Time long_wait;          // a wait above this is long
    Time wait;               // at most by this much may the sum of all waits rise,
    std::int64_t long_waits; // and by this the number of long ones
};

struct Section {
    std::span<const Element> elements; // the dispatches in the order of `low`, then the others
    std::span<const Index> by_latest;  // the dispatches by latest start
    std::span<const Index> guided; // by CPU and start in the guide, a schedule within the limits
    std::span<const Index> guided_first;
    std::span<const Index> woken; // which dispatches each one wakes
    std::span<const Index> woken_first;
    std::span<const Fixed> fixed; // by CPU and start
    std::span<const Cpu> cpus;
    std::span<const Cost> matrix;    // costs between fragments, or empty
    std::span<const double> weights; // the mean entry cost of each fragment
    Limits limits;

    std::span<const Element> dispatches() const { return elements.first(by_latest.size()); }
    Index fragments() const { return std::ssize(weights); }

    std::span<const Index> guided_on(Index cpu) const { return group(guided, guided_first, cpu); }
    std::span<const Index> woken_by(Index row) const { return group(woken, woken_first, row); }

  private:
    static std::span<const Index> group(std::span<const Index> members,
                                        std::span<const Index> first, Index number) {
        return members.subspan(first[number], first[number + 1] - first[number]);
    }
};

} // namespace dfopt::beam
