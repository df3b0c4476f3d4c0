#include "partial_schedules.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace dfopt::waiting {

namespace {

// Returns when the switch to a task can begin on a CPU.
Cost begin_of(const Instance& instance, const Row& row, Index task, Index cpu) {
    Cost begin = std::max(instance.tasks[task].release, row.cpus[cpu].clock);
    for (const Cpu& other : row.cpus) {
        if (other.awaited != nowhere && contains(instance.before[task], other.awaited)) {
            begin = std::max(begin, other.clock);
        }
    }
    return begin;
}

// States of a family are a group, and each task that others wait for is one of its own.
Index family_of(const Instance& instance, Index state) {
    return static_cast<Index>(instance.states[state].family);
}

auto place_of(const Cpu& cpu) { return std::tie(cpu.group, cpu.load, cpu.state, cpu.clock); }

} // namespace

Layer::Layer(const Instance& instance, std::size_t rows)
    : words_(instance.before.words_each()), width_(instance.cpus) {
    done_.reserve(rows * words_);
    cpus_.reserve(rows * width_);
    figures_.reserve(rows);
}

void copy(const Row& from, const Row& to) {
    std::ranges::copy(from.done, to.done.begin());
    std::ranges::copy(from.cpus, to.cpus.begin());
    const Index following = to.figures.following;
    to.figures = from.figures;
    to.figures.following = following;
}

void write_root(const Instance& instance, const Row& row) {
    std::ranges::fill(row.done, 0);
    for (Index cpu = 0; cpu < instance.cpus; ++cpu) {
        const Index state = static_cast<Index>(instance.starts[cpu]);
        row.cpus[cpu] = {cpu, state, nowhere, family_of(instance, state), 0, 0};
    }
    std::ranges::sort(row.cpus, [](const Cpu& one, const Cpu& other) {
        return std::tie(one.group, one.state, one.number) <
               std::tie(other.group, other.state, other.number);
    });
    row.figures = {};
}

bool dispatch(const Instance& instance, const Row& from, Index task, Index cpu, const Row& to) {
    const Cost begin = begin_of(instance, from, task, cpu);
    if (begin < from.figures.floor) return false; // another row has dispatched it before
    copy(from, to);
    insert(to.done, task);
    const Task& added = instance.tasks[task];
    Cpu& runs = to.cpus[cpu];
    runs.clock = begin + instance.switch_cost(runs.state, task) + added.exec;
    runs.state = static_cast<Index>(added.state);
    runs.awaited = task;
    runs.group = static_cast<Index>(instance.states.size()) + task;
    runs.load += added.size;
    to.figures.floor = begin;
    for (Cpu& other : to.cpus) {
        if (other.awaited != nowhere && is_within(instance.after[other.awaited], to.done)) {
            other.awaited = nowhere;
            other.group = family_of(instance, other.state);
        }
    }
    return true;
}

void raise_floor(const Instance& instance, const Row& row) {
    Index free = nowhere;
    for (Index cpu = 0; cpu < instance.cpus; ++cpu) {
        if (row.is_full(cpu, instance)) continue;
        if (free == nowhere || row.cpus[cpu].clock < row.cpus[free].clock) free = cpu;
    }
    if (free == nowhere) return;
    Cost earliest = impossible;
    for (Index task = 0; task < instance.count; ++task) {
        if (can_start(instance, row, task)) {
            earliest = std::min(earliest, begin_of(instance, row, task, free));
        }
    }
    if (earliest != impossible) row.figures.floor = std::max(row.figures.floor, earliest);
}

void settle(const Instance& instance, const Row& row, Cost bound) {
    const Cost floor = row.figures.floor;
    for (Cpu& cpu : row.cpus) {
        const Cost finish = instance.states[cpu.state].finish;
        if (cpu.clock < floor && floor + finish <= bound) cpu.clock = floor;
    }
    // Few CPUs have left their places.
    for (std::size_t cpu = 1; cpu < row.cpus.size(); ++cpu) {
        for (std::size_t place = cpu; place > 0; --place) {
            if (!(place_of(row.cpus[place]) < place_of(row.cpus[place - 1]))) break;
            std::swap(row.cpus[place], row.cpus[place - 1]);
        }
    }
}

std::uint64_t hash_of(const Row& row) {
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
    std::uint64_t value = 0;
    for (const Word word : row.done) {
        value = (value ^ word) * factor;
        value ^= value >> 29;
    }
    for (const Cpu& cpu : row.cpus) {
        const auto load = static_cast<std::uint64_t>(cpu.load);
        value = (value ^ (static_cast<std::uint64_t>(cpu.group) * 4096 + load)) * factor;
        value ^= value >> 31;
    }
    return value;
}

bool agree(const Row& one, const Row& other) {
    const auto is_alike = [](const Cpu& cpu, const Cpu& other_cpu) {
        return cpu.load == other_cpu.load && cpu.group == other_cpu.group;
    };
    return std::ranges::equal(one.done, other.done) &&
           std::ranges::equal(one.cpus, other.cpus, is_alike);
}

bool is_no_later(const Instance& instance, const Row& one, const Row& other) {
    Cost free = impossible; // when the first CPU is that can hold another task
    for (Index cpu = 0; cpu < instance.cpus; ++cpu) {
        const Cpu &mine = one.cpus[cpu], &theirs = other.cpus[cpu];
        if (mine.clock > theirs.clock) return false;
        if (!instance.can_replace(mine.state, theirs.state)) return false;
        if (!other.is_full(cpu, instance)) free = std::min(free, theirs.clock);
    }
    if (free == impossible) free = 0;
    return one.figures.floor <= std::max(other.figures.floor, free);
}

} // namespace dfopt::waiting
