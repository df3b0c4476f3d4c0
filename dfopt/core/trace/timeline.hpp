// The time line of a CPU: where a dispatch fits, and what it costs that it follows another one.

#pragma once

#include "section.hpp"

#include <algorithm>

namespace dfopt::beam {

struct Fit {
    Time start;
    Index passed; // what is fixed before this lies behind
};

// Returns when a dispatch fits on a CPU at or after `start`; what is fixed before `passed` lies
// behind.
inline Fit fitting(const Section& section, Index cpu, Index passed, Time start, Time length) {
    const std::vector<Fixed>& fixed = section.fixed;
    const Index end = section.cpus[cpu].fixed_end;
    while (passed < end) {
        if (fixed[passed].role == Role::cut) {
            if (fixed[passed].start > start) {
                // A block may follow that makes the dispatch start after the cut.
                Index ahead = passed + 1;
                while (ahead < end && fixed[ahead].role == Role::cut) ++ahead;
                if (ahead == end || start + length <= fixed[ahead].start) break;
                start = std::max(start, fixed[ahead].end);
                passed = ahead;
                continue;
            }
        } else if (start + length <= fixed[passed].start) {
            break;
        }
        start = std::max(start, fixed[passed].end);
        ++passed;
    }
    return {start, passed};
}

// Returns what it costs that one element follows another one on a CPU.
inline Cost meeting(const Section& section, Index before, Index after) {
    const Element& next = section.elements[after];
    if (before == none) return next.first;
    if (before == unknown) return 0;
    return switch_cost(section.elements[before], next, section.matrix, section.fragments());
}

// Returns what it costs that `after` follows, with what is fixed from `passed` to `end` in between.
// If `after` is `none`, nothing follows on the CPU.
inline Cost following(const Section& section, Index before, Index passed, Index end, Index after) {
    Cost total = 0;
    for (const Fixed& fixed : section.fixed_from(passed, end)) {
        if (fixed.role == Role::cut) {
            before = unknown;
        } else if (fixed.role == Role::evicts) {
            total += meeting(section, before, fixed.element);
            before = fixed.element;
        }
    }
    if (after != none) return total + meeting(section, before, after);
    return before >= 0 ? total + section.elements[before].last : total;
}

// Returns what follows costs after the last dispatch of the section on a CPU.
inline Cost closing(const Section& section, Index cpu, Index before, Index passed) {
    const Cpu& around = section.cpus[cpu];
    return following(section, before, passed, around.passed_at_end, around.element_after);
}

} // namespace dfopt::beam
