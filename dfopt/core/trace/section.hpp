// A section of a schedule, as the beam search reads it.
//
// A *section* is some dispatches that follow each other in the order of their starts. What runs
// before and after them keeps its CPU and its time. An *element* is a dispatch of the section, the
// dispatch of a CPU before or after it, or a block that evicts. Times count from where the section
// begins, and fragments are numbered anew.

#pragma once

#include "dispatch.hpp"

namespace dfopt::beam {

// Stands for the last element of a CPU after a cut.
constexpr Index unknown = -2;

// A time after all others; its negative is before them.
constexpr Time far = Time{1} << 60;

// A dispatch as it runs in the *guide*, a schedule within the limits; `previous` and `waker` are
// elements, or `none` if they lie outside. The rest is known of the section's own ones only.
struct Element : Dispatch {
    Time low = 0;   // when it can start at the earliest, whatever comes before it
    Time since = 0; // when its wait begins at the earliest
    Time latest = 0;
    Index next = none;      // the dispatch after it of its task
    Index woken = none;     // the first one that it wakes
    Index sibling = none;   // the next one that its waker wakes
    Time next_since = far;  // when the dispatch after it is woken
    Time next_start = none; // when that one starts if it lies outside the section, or `none`
};

enum class Role : std::int64_t { plain, evicts, cut };

// What stands between dispatches: a block, or a cut.
struct Fixed {
    Time start, end;
    Role role;
    Index element = none; // if it evicts
};

struct Cpu {
    Index guided_first = 0, guided_end = 0; // its dispatches in Section::guided
    Index fixed_first = 0, fixed_end = 0;   // what may lie ahead
    Index passed_at_end = 0;                // what is fixed before the element after the section
    Time free_from = -far;
    Index element_before = none, element_after = none; // those around the section
};

struct Limits {
    Time long_wait;          // a wait above this is long
    Time wait;               // at most by this much may the sum of all waits rise,
    std::int64_t long_waits; // and by this the number of long ones
};

struct Section {
    std::vector<Element> elements; // the dispatches in the order of `low`, then the others
    Index size = 0;                // the number of dispatches
    std::vector<Index> by_latest;  // the dispatches by latest start
    std::vector<Index> guided;     // by CPU and start in the guide
    std::vector<Fixed> fixed;      // by CPU and start
    std::vector<Cpu> cpus;
    std::vector<Cost> matrix;    // costs between fragments, or empty
    std::vector<double> weights; // the mean entry cost of each fragment
    Limits limits{};

    Rows<Element> dispatches() const { return Rows<Element>(elements).first(size); }
    Index fragments() const { return std::ssize(weights); }
    Rows<Fixed> fixed_from(Index first, Index end) const {
        return Rows<Fixed>(fixed).subspan(first, end - first);
    }
};

// Returns a random number for a fragment (the finalizer of splitmix64).
inline std::uint64_t code(Index fragment) {
    std::uint64_t bits = (static_cast<std::uint64_t>(fragment) + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
}

} // namespace dfopt::beam
