#include "candidates.hpp"

#include <algorithm>

namespace dfopt::beam {

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
    std::ranges::fill(of_fragments_, OfFragment{});
    std::ranges::fill(ready_, OnCpu{});
    fragments_.clear();
    waiting_ = since_ = 0;
    Index& at = partial.placed_by_low;
    while (at <= last && partial.has(at)) ++at;
    for (Index row = at; row <= last && dispatches[row].low <= reach; ++row) {
        if (!partial.has(row)) note(partial, row, reach);
    }
    std::ranges::sort(fragments_);
    survey_urgent(partial);
}

// Returns the time from when a CPU can go on until its next block.
Time Candidates::gap(const PartialSchedule& partial, Index cpu) const {
    Time start = starts_[cpu];
    const Index passed = partial.cpus[cpu].passed;
    for (const Fixed& fixed : section_.fixed_from(passed, section_.cpus[cpu].fixed_end)) {
        if (fixed.start > start) return fixed.start - start;
        start = std::max(start, fixed.end);
    }
    return far;
}

// Notes that a dispatch could come next if it is ready by the time `reach`.
void Candidates::note(const PartialSchedule& partial, Index row, Time reach) {
    if (const Time since = partial.since(section_, row); since <= partial.now) {
        ++waiting_;
        since_ += since;
    }
    const Time ready = partial.ready_time(section_, row);
    if (ready > reach) return;
    const Element& dispatch = section_.elements[row];
    OfFragment& noted = of_fragments_[dispatch.fragment];
    if (noted.soonest == none) fragments_.push_back(dispatch.fragment);
    if (ready < noted.soonest_ready) {
        noted.soonest = row;
        noted.soonest_ready = ready;
    }
    if (dispatch.latest < noted.urgent_latest) {
        noted.most_urgent = row;
        noted.urgent_latest = dispatch.latest;
    }
    const auto is_better = [&](Index than) {
        return than == none || dispatch.latest < section_.elements[than].latest;
    };
    for (Index cpu = 0; cpu < std::ssize(gaps_); ++cpu) {
        if (ready > starts_[cpu]) continue;
        OnCpu& choice = ready_[dispatch.fragment * gaps_.size() + cpu];
        if (is_better(choice.released)) choice.released = row;
        if (dispatch.length > gaps_[cpu]) continue;
        if (is_better(choice.fitting)) choice.fitting = row;
        if (choice.longest == none || dispatch.length > section_.elements[choice.longest].length) {
            choice.longest = row;
        }
    }
}

void Candidates::survey_urgent(PartialSchedule& partial) {
    Index& at = partial.placed_by_latest;
    const Index end = std::ssize(section_.by_latest);
    while (at < end && partial.has(section_.by_latest[at])) ++at;
    urgent_.clear();
    for (const Index row : std::span(section_.by_latest).subspan(at)) {
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
                             ready.released == none ? waited.soonest : none, waited.most_urgent};
    for (auto one = all.begin() + 1; one != all.end(); ++one) {
        if (std::find(all.begin(), one, *one) != one) *one = none;
    }
    return all;
}

} // namespace dfopt::beam
