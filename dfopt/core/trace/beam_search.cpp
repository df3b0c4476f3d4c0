#include "beam_search.hpp"

#include "timeline.hpp"

#include <algorithm>

namespace dfopt::beam {

BeamSearch::BeamSearch(const Section& section, const Settings& settings)
    : section_(section), settings_(settings), children_(section, settings),
      partials_(settings.width + settings.safe), next_(partials_.size()) {
    PartialSchedule& root = partials_[0];
    root.starts.assign(section.dispatches().size(), far);
    for (std::size_t cpu = 0; cpu < section.cpus.size(); ++cpu) {
        const Cpu& around = section.cpus[cpu];
        root.cpus.push_back(
            {around.free_from, around.element_before, around.fixed_first, around.guided_first});
    }
    root.sooner.assign(children_.stock().times(), 0);
    steps_.reserve(section.dispatches().size());
}

Index BeamSearch::place(Index dispatches) {
    const auto left = [this] { return std::ssize(section_.dispatches()) - std::ssize(steps_); };
    for (; dispatches > 0 && left() > 0 && kept_ > 0; --dispatches) {
        children_.clear();
        for (Index parent = 0; parent < kept_; ++parent) children_.add(parent, partials_[parent]);
        keep_children();
    }
    return kept_ > 0 ? left() : 0;
}

// Turns the children into the partial schedules that are gone on with.
void BeamSearch::keep_children() {
    steps_.emplace_back();
    for (const auto& [key, child] : children_.best().ranked()) make(child);
    for (const auto& [key, child] : children_.safest().ranked()) {
        if (!children_.best().has_safe(child.hash)) make(child);
    }
    partials_.swap(next_);
    kept_ = std::ssize(steps_.back());
}

// Turns a child into a partial schedule.
void BeamSearch::make(const Child& child) {
    PartialSchedule& made = next_[steps_.back().size()];
    const Element& dispatch = section_.elements[child.row];
    made = partials_[child.parent];
    made.starts[child.row] = child.start;
    CpuState& on = made.cpus[child.cpu];
    on.free = child.start + dispatch.length;
    on.before = child.row;
    on.passed = child.passed;
    made.cost = child.cost;
    made.now = std::max(made.now, child.start);
    made.hash += code(dispatch.fragment);
    made.unlike = child.unlike;
    made.safe = child.safe;
    made.busy = child.busy;
    made.waits = child.waits;
    for (std::size_t i = 0; i < made.sooner.size(); ++i) {
        made.sooner[i] += children_.stock().not_needed(dispatch, i);
    }
    steps_.back().push_back({child.parent, child.row, child.cpu});
}

// Returns what the section costs in the guide, and its waits.
BeamSearch::Total BeamSearch::total_of_guide() const {
    Total total;
    for (Index cpu = 0; cpu < std::ssize(section_.cpus); ++cpu) {
        Index passed = section_.cpus[cpu].fixed_first;
        Index before = section_.cpus[cpu].element_before;
        for (Index at = section_.cpus[cpu].guided_first; at < section_.cpus[cpu].guided_end; ++at) {
            const Index row = section_.guided[at];
            const Element& dispatch = section_.elements[row];
            const Fit fit = fitting(section_, cpu, passed, dispatch.start, dispatch.length);
            total.cost += following(section_, before, passed, fit.passed, row);
            before = row;
            passed = fit.passed;
            Time previous_end = -far;
            if (dispatch.previous != none) {
                const Element& previous = section_.elements[dispatch.previous];
                previous_end = previous.start + previous.length;
            }
            total.waits.add(section_, dispatch, fit.start, previous_end);
        }
        total.cost += closing(section_, cpu, before, passed);
    }
    return total;
}

std::optional<Found> BeamSearch::best() const {
    const Total of_guide = total_of_guide();
    Index chosen = none;
    double least = 0;
    Total best;
    for (Index kept = 0; kept < kept_; ++kept) {
        const PartialSchedule& schedule = partials_[kept];
        Total total{schedule.cost, schedule.waits};
        for (Index cpu = 0; cpu < std::ssize(section_.cpus); ++cpu) {
            const CpuState& on = schedule.cpus[cpu];
            total.cost += closing(section_, cpu, on.before, on.passed);
        }
        const auto& [wait, long_waits] = total.waits;
        if (wait - of_guide.waits.total > section_.limits.wait ||
            long_waits - of_guide.waits.long_waits > section_.limits.long_waits) {
            continue;
        }
        const double value = static_cast<double>(total.cost) +
                             settings_.wait_price * static_cast<double>(wait) +
                             settings_.long_price * static_cast<double>(long_waits);
        if (chosen == none || value < least) {
            chosen = kept;
            least = value;
            best = total;
        }
    }
    if (chosen == none) return std::nullopt;
    return traced(chosen, best, of_guide);
}

// Returns a complete schedule, with the CPUs that its steps name.
Found BeamSearch::traced(Index kept, const Total& total, const Total& of_guide) const {
    Found found{.placements = {},
                .cost = total.cost - of_guide.cost,
                .wait = total.waits.total - of_guide.waits.total,
                .long_waits = total.waits.long_waits - of_guide.waits.long_waits,
                .guide_cost = of_guide.cost};
    found.placements.reserve(partials_[kept].starts.size());
    for (const Time start : partials_[kept].starts) found.placements.push_back({start, none});
    for (auto steps = steps_.rbegin(); steps != steps_.rend(); ++steps) {
        const Step& step = (*steps)[kept];
        found.placements[step.row].cpu = step.cpu;
        kept = step.parent;
    }
    return found;
}

} // namespace dfopt::beam
