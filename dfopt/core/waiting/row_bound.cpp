#include "row_bound.hpp"

#include <algorithm>

namespace dfopt::waiting {

namespace {

Cost divided_up(Cost sum, Cost parts) { return sum > 0 ? (sum - 1) / parts + 1 : sum / parts; }

} // namespace

RowBound::RowBound(const Instance& instance) : instance_(instance) {
    std::int64_t fragments = 0;
    for (Index task = 0; task < instance.count; ++task) {
        fragments = std::max(fragments, instance.tasks[task].fragment + 1);
    }
    left_.resize(fragments);
}

RowBound::Bounds RowBound::of(const Row& row) {
    const Index missing = count_fragments(row);
    open_.clear();
    awaited_.clear();
    Cost end = 0;
    for (Index number = 0; number < instance_.cpus; ++number) {
        const Cpu& cpu = row.cpus[number];
        const bool is_full = row.cpus[number].load == instance_.room;
        if (!is_full) open_.push_back(&cpu);
        if (cpu.awaited != nowhere) awaited_.push_back(&cpu);
        // What comes behind the last task is cheaper for some tasks than for others.
        const bool is_last = missing == 0 || is_full;
        end = std::max(end, cpu.clock + (is_last ? instance_.states[cpu.state].finish : 0));
    }
    if (open_.empty() || missing == 0) return {end, end * instance_.cpus};
    return by_heads(row, end);
}

// Counts the tasks of each fragment that are left, and finds their cheapest entry. Returns how many
// tasks are left.
Index RowBound::count_fragments(const Row& row) {
    std::ranges::fill(left_, FragmentLeft{0, impossible});
    Index missing = 0;
    for (Index number = 0; number < instance_.count; ++number) {
        if (contains(row.done, number)) continue;
        const Task& task = instance_.tasks[number];
        FragmentLeft& left = left_[task.fragment];
        ++left.tasks;
        left.entry = std::min(left.entry, task.entry);
        ++missing;
    }
    for (Index cpu = 0; cpu < instance_.cpus; ++cpu) {
        // What an open CPU holds need not be entered.
        const std::int64_t held = instance_.states[row.cpus[cpu].state].held;
        if (held != nowhere && row.cpus[cpu].load != instance_.room) left_[held].entry = 0;
    }
    return missing;
}

// Returns the bound by paths, and by the work of all tasks with no earlier head; and its sum.
RowBound::Bounds RowBound::by_heads(const Row& row, Cost end) {
    Cost busy = 0, gifts = 0, departures = 0, most_spared = 0, free = impossible;
    const Cost open = std::ssize(open_);
    Cost spared = 0; // how many states spare their CPU something if it ends there
    const auto may_spare = [&](const State& state) {
        spared += state.relief > 0;
        most_spared = std::max(most_spared, state.relief);
    };
    for (const Cpu* cpu : open_) {
        const State& state = instance_.states[cpu->state];
        busy += cpu->clock;
        free = std::min(free, cpu->clock);
        gifts += state.gift;
        departures += state.departure;
        may_spare(state);
    }
    Cost work = 0;
    for (const Index number : instance_.latest_first) {
        if (contains(row.done, number)) continue;
        const Task& task = instance_.tasks[number];
        const State& state = instance_.states[task.state];
        work += task.exec + task.addition + state.departure;
        may_spare(state);
        FragmentLeft& left = left_[task.fragment];
        if (--left.tasks == 0) work += left.entry;
        const Cost head = std::max(task.head, free);
        Cost ready = head;
        for (const Cpu* cpu : awaited_) {
            if (contains(instance_.before[number], cpu->awaited)) {
                ready = std::max(ready, cpu->clock);
            }
        }
        Cost later = 0;
        for (const Cpu* cpu : open_) later += std::max<Cost>(0, cpu->clock - head);
        const Cost path = ready + task.arrival + task.exec + task.tail;
        // The sum of the ends of all CPUs, less what the last task of each may be spared.
        const Cost ends = open * head + later + work - gifts - std::min(spared, open) * most_spared;
        end = std::max({end, path, divided_up(ends, open)});
    }
    const Cost total = busy + work + departures - gifts - std::min(spared, open) * most_spared;
    return {std::max(end, divided_up(total, open)), total};
}

} // namespace dfopt::waiting
