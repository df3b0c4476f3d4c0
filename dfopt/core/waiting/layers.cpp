#include "layers.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace dfopt::waiting {

namespace {

// Copies all but the place in a list of equal hashes.
void copy(const Row& from, const Row& to) {
    std::ranges::copy(from.done, to.done.begin());
    std::ranges::copy(from.cpus, to.cpus.begin());
    const Index following = to.figures.following;
    to.figures = from.figures;
    to.figures.following = following;
}

// Returns a number that is equal for rows of which one may replace the other.
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

// Returns whether two rows have the same sets, and CPUs of the same groups.
bool agree(const Row& one, const Row& other) {
    const auto is_alike = [](const Cpu& cpu, const Cpu& other_cpu) {
        return cpu.load == other_cpu.load && cpu.group == other_cpu.group;
    };
    return std::ranges::equal(one.done, other.done) &&
           std::ranges::equal(one.cpus, other.cpus, is_alike);
}

auto place_of(const Cpu& cpu) { return std::tie(cpu.group, cpu.load, cpu.state, cpu.clock); }

} // namespace

bool Layers::extend(std::int64_t pairs, Cost below) {
    while (std::ssize(history_) < instance_.count) {
        const std::int64_t last = std::int64_t{source_.rows()} * instance_.count;
        for (; next_ < last; --pairs, ++next_) {
            if (pairs == 0) return true;
            const auto row = static_cast<Index>(next_ / instance_.count);
            const auto task = static_cast<Index>(next_ % instance_.count);
            if (can_start(source_[row], task)) add(row, task, below);
        }
        advance();
    }
    return false;
}

void Layers::add(Index row, Index task, Cost below) {
    const Row from = source_[row], child = child_[0];
    for (Index place = 0; place < instance_.cpus; ++place) {
        const Cpu& cpu = from.cpus[place];
        if (cpu.load + instance_.tasks[task].size > instance_.room) continue;
        if (place > 0) {
            const Cpu& before = from.cpus[place - 1];
            if (cpu.state == before.state && cpu.awaited == before.awaited &&
                cpu.load == before.load && cpu.clock == before.clock) {
                continue; // the CPU before is like this one
            }
        }
        if (!dispatch(from, task, place, child)) continue;
        raise_floor(child);
        const auto [end, total] = bound_.of(child);
        if (end >= below) continue;
        settle(child, end);
        child.figures.guide = std::max(total, end * instance_.cpus);
        child.figures.step = {row, task, cpu.number};
        keep(child);
    }
}

// Writes the partial schedule without tasks.
void Layers::write_root(const Row& row) const {
    std::ranges::fill(row.done, 0);
    for (Index cpu = 0; cpu < instance_.cpus; ++cpu) {
        const auto state = static_cast<Index>(instance_.starts[cpu]);
        row.cpus[cpu] = {cpu, state, nowhere, family_of(state), 0, 0};
    }
    std::ranges::sort(row.cpus, [](const Cpu& one, const Cpu& other) {
        return std::tie(one.group, one.state, one.number) <
               std::tie(other.group, other.state, other.number);
    });
    row.figures = {};
}

// Returns whether a task is not dispatched, and all are that come before it.
bool Layers::can_start(const Row& row, Index task) const {
    return !contains(row.done, task) && is_within(instance_.earlier[task], row.done);
}

// Returns when the switch to a task can begin on a CPU.
Cost Layers::begin_of(const Row& row, Index task, Index cpu) const {
    Cost begin = std::max(instance_.tasks[task].release, row.cpus[cpu].clock);
    for (const Cpu& other : row.cpus) {
        if (other.awaited != nowhere && contains(instance_.before[task], other.awaited)) {
            begin = std::max(begin, other.clock);
        }
    }
    return begin;
}

// States of a family are a group, and each task that others wait for is one of its own.
Index Layers::family_of(Index state) const {
    return static_cast<Index>(instance_.states[state].family);
}

// Writes what comes of dispatching a task. Returns false if that is superfluous.
bool Layers::dispatch(const Row& from, Index task, Index cpu, const Row& to) const {
    const Cost begin = begin_of(from, task, cpu);
    if (begin < from.figures.floor) return false; // another row has dispatched it before
    copy(from, to);
    insert(to.done, task);
    const Task& added = instance_.tasks[task];
    Cpu& runs = to.cpus[cpu];
    runs.clock = begin + instance_.switch_cost(runs.state, task) + added.exec;
    runs.state = static_cast<Index>(added.state);
    runs.awaited = task;
    runs.group = static_cast<Index>(instance_.states.size()) + task;
    runs.load += added.size;
    to.figures.floor = begin;
    for (Cpu& other : to.cpus) {
        if (other.awaited != nowhere && is_within(instance_.after[other.awaited], to.done)) {
            other.awaited = nowhere;
            other.group = family_of(other.state);
        }
    }
    return true;
}

// Raises the floor to the earliest time at which any task can start.
void Layers::raise_floor(const Row& row) const {
    Index free = nowhere;
    for (Index cpu = 0; cpu < instance_.cpus; ++cpu) {
        if (row.cpus[cpu].load == instance_.room) continue;
        if (free == nowhere || row.cpus[cpu].clock < row.cpus[free].clock) free = cpu;
    }
    if (free == nowhere) return;
    Cost earliest = impossible;
    for (Index task = 0; task < instance_.count; ++task) {
        if (can_start(row, task)) {
            earliest = std::min(earliest, begin_of(row, task, free));
        }
    }
    if (earliest != impossible) row.figures.floor = std::max(row.figures.floor, earliest);
}

// Forgets times that do not matter any more, and sorts the CPUs. Nothing that comes of the row ends
// before `bound`.
void Layers::settle(const Row& row, Cost bound) const {
    const Cost floor = row.figures.floor;
    for (Cpu& cpu : row.cpus) {
        const Cost finish = instance_.states[cpu.state].finish;
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

// Returns whether a row makes another one superfluous that agrees with it.
bool Layers::is_no_later(const Row& one, const Row& other) const {
    Cost free = impossible; // when the first CPU is that can hold another task
    for (Index cpu = 0; cpu < instance_.cpus; ++cpu) {
        const Cpu &mine = one.cpus[cpu], &theirs = other.cpus[cpu];
        if (mine.clock > theirs.clock) return false;
        if (!instance_.can_replace(mine.state, theirs.state)) return false;
        if (other.cpus[cpu].load != instance_.room) free = std::min(free, theirs.clock);
    }
    if (free == impossible) free = 0;
    return one.figures.floor <= std::max(other.figures.floor, free);
}

// Keeps a row unless it is superfluous; it takes the place of one that it makes superfluous.
void Layers::keep(const Row& child) {
    for (Index row = first_like(child); row != nowhere; row = target_[row].figures.following) {
        const Row other = target_[row];
        if (!agree(other, child)) continue;
        if (is_no_later(other, child)) return;
        if (is_no_later(child, other)) {
            copy(child, other);
            return;
        }
    }
    copy(child, target_.append());
    list(target_.rows() - 1);
    if (std::cmp_equal(target_.rows(), 2 * width_)) keep_best();
}

// Returns the first row of the target with the hash of a row, for others to come before it.
Index& Layers::first_like(const Row& row) { return table_[hash_of(row) & (table_.size() - 1)]; }

// Lets a row of the target be found by its hash.
void Layers::list(Index row) {
    Index& first = first_like(target_[row]);
    target_[row].figures.following = std::exchange(first, row);
}

// Drops all rows but those with the least guide.
void Layers::keep_best() {
    has_dropped_ = true;
    guides_.clear();
    for (Index row = 0; row < target_.rows(); ++row) {
        guides_.push_back(target_[row].figures.guide);
    }
    const auto last = guides_.begin() + static_cast<std::ptrdiff_t>(width_) - 1;
    std::ranges::nth_element(guides_, last);
    const Cost limit = *last;
    // Of those at the limit the first ones stay.
    auto ties = static_cast<std::ptrdiff_t>(width_) -
                std::count_if(guides_.begin(), last, [&](Cost guide) { return guide < limit; });
    Index kept = 0;
    for (Index row = 0; row < target_.rows(); ++row) {
        const Cost guide = target_[row].figures.guide;
        if (guide > limit || (guide == limit && ties-- <= 0)) continue;
        if (kept != row) copy(target_[row], target_[kept]);
        ++kept;
    }
    target_.resize(kept);
    std::ranges::fill(table_, nowhere);
    for (Index row = 0; row < kept; ++row) list(row);
}

// Goes on with the layer that has been written.
void Layers::advance() {
    std::vector<Step>& steps = history_.emplace_back();
    steps.reserve(target_.rows());
    for (Index row = 0; row < target_.rows(); ++row) steps.push_back(target_[row].figures.step);
    std::swap(source_, target_);
    target_.resize(0);
    std::ranges::fill(table_, nowhere);
    next_ = 0;
}

Cost Layers::find_end() {
    Cost first = impossible;
    for (Index row = 0; row < source_.rows(); ++row) {
        Cost end = 0;
        for (const Cpu& cpu : source_[row].cpus) {
            end = std::max(end, cpu.clock + instance_.states[cpu.state].finish);
        }
        if (end < first) {
            first = end;
            found_ = row;
        }
    }
    return first;
}

Rows<Dispatch> Layers::dispatches() {
    listed_.resize(history_.size());
    Index row = found_;
    for (std::size_t layer = history_.size(); layer-- > 0;) {
        const Step& step = history_[layer][row];
        listed_[layer] = {step.cpu, step.task};
        row = step.parent;
    }
    return listed_;
}

DFOPT_OBJECT(WaitingTasks, Instance)
DFOPT_OBJECT(Layers, Layers)
DFOPT_FUNCTION(Layers_extend, &Layers::extend)
DFOPT_FUNCTION(Layers_has_dropped, &Layers::has_dropped)
DFOPT_FUNCTION(Layers_find_end, &Layers::find_end)
DFOPT_FUNCTION(Layers_dispatches, &Layers::dispatches)

} // namespace dfopt::waiting
