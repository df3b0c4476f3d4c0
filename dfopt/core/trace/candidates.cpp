#include "candidates.hpp"

#include <algorithm>

namespace dfopt::beam {

namespace {

// At most this number of dispatches of a fragment are looked at, the most urgent ones.
constexpr int most_seen = 24;

} // namespace

Candidates::Candidates(const Section& section, Index ahead, Index most_urgent)
    : section_(section), ahead_(ahead), most_urgent_(most_urgent),
      of_fragments_(section.fragments()), ready_(section.fragments() * section.cpus.size()),
      gaps_(section.cpus.size()), starts_(section.cpus.size()) {
    urgent_.reserve(most_urgent);
}

void Candidates::survey(PartialSchedule& partial) {
    const std::span dispatches = section_.dispatches();
    const auto later = std::ranges::upper_bound(dispatches, partial.now, {}, &Element::low);
    const Index last = std::ssize(dispatches) - 1;
    const Time reach = dispatches[std::min(later - dispatches.begin() + ahead_, last)].low;
    for (Index cpu = 0; cpu < std::ssize(gaps_); ++cpu) {
        starts_[cpu] = std::max(partial.cpus[cpu].free, partial.now);
        gaps_[cpu] = gap(partial, cpu);
    }
    fragments_.clear();
    for (Index fragment = 0; fragment < section_.fragments(); ++fragment) {
        survey_fragment(partial, fragment, reach);
        if (of(fragment).soonest != nothing) fragments_.push_back(fragment);
    }
    survey_urgent(partial);
}

// Returns the time from when a CPU can go on until its next block.
Time Candidates::gap(const PartialSchedule& partial, Index cpu) const {
    Time start = starts_[cpu];
    const Index passed = partial.cpus[cpu].passed;
    const Index ahead = section_.cpus[cpu].fixed_end - passed;
    for (const Fixed& fixed : section_.fixed.subspan(passed, ahead)) {
        if (fixed.start > start) return fixed.start - start;
        start = std::max(start, fixed.end);
    }
    return far;
}

// Notes which dispatches of a fragment that are ready by the time `reach` could come next.
void Candidates::survey_fragment(PartialSchedule& partial, Index fragment, Time reach) {
    OfFragment& noted = of_fragments_[fragment] = {};
    const std::span ready_on(&ready_[fragment * gaps_.size()], gaps_.size());
    std::ranges::fill(ready_on, OnCpu{});
    Index& at = partial.placed[fragment];
    const Index end = section_.fragment_first[fragment + 1];
    while (at < end && partial.has(section_.by_fragment[at])) ++at;
    int seen = 0;
    for (const Index row : section_.by_fragment.subspan(at, end - at)) {
        if (partial.has(row)) continue;
        if (seen++ == most_seen) break;
        const Element& dispatch = section_.elements[row];
        if (dispatch.low > reach) continue;
        const Time ready = partial.ready_time(section_, row);
        if (ready > reach) continue;
        if (ready < noted.soonest_ready) {
            noted.soonest = row;
            noted.soonest_ready = ready;
        }
        // They come by their latest starts.
        if (noted.most_urgent == nothing) {
            noted.most_urgent = row;
            noted.urgent_latest = dispatch.latest;
        }
        for (Index cpu = 0; cpu < std::ssize(gaps_); ++cpu) {
            if (ready <= starts_[cpu]) note(ready_on[cpu], row, gaps_[cpu]);
        }
    }
}

// Notes a dispatch that is ready when a CPU is free; they come by their latest starts.
void Candidates::note(OnCpu& choice, Index row, Time gap) const {
    if (choice.released == nothing) choice.released = row;
    const Time length = section_.elements[row].length;
    if (length > gap) return;
    if (choice.fitting == nothing) choice.fitting = row;
    if (choice.longest == nothing || length > section_.elements[choice.longest].length) {
        choice.longest = row;
    }
}

void Candidates::survey_urgent(PartialSchedule& partial) {
    Index& at = partial.placed_by_latest;
    const Index end = std::ssize(section_.by_latest);
    while (at < end && partial.has(section_.by_latest[at])) ++at;
    urgent_.clear();
    for (const Index row : section_.by_latest.subspan(at)) {
        if (std::ssize(urgent_) == most_urgent_) break;
        if (partial.has(row)) continue;
        const Time ready = partial.ready_time(section_, row);
        urgent_.push_back({row, ready == far ? section_.elements[row].low : ready});
    }
}

std::array<Index, 5> Candidates::choices(Index cpu, Index fragment) const {
    const OnCpu& ready = ready_[fragment * gaps_.size() + cpu];
    const OfFragment& waited = of_fragments_[fragment];
    std::array<Index, 5> all{ready.released, ready.fitting, ready.longest,
                             ready.released == nothing ? waited.soonest : nothing,
                             waited.most_urgent};
    for (auto one = all.begin() + 1; one != all.end(); ++one) {
        if (std::find(all.begin(), one, *one) != one) *one = nothing;
    }
    return all;
}

} // namespace dfopt::beam
