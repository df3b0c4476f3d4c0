#include "layers.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace dfopt::waiting {

Layers::Layers(const Instance& instance, std::int64_t width)
    : instance_(instance), width_(width), source_(instance, 2 * width_),
      target_(instance, 2 * width_), child_(instance, 1),
      table_(std::bit_ceil(4 * width_ + 1), nowhere), bound_(instance) {
    write_root(instance, source_.append());
    child_.append();
}

bool Layers::extend(std::int64_t pairs, Cost below) {
    while (std::ssize(history_) < instance_.count) {
        const std::int64_t last = std::int64_t{source_.rows()} * instance_.count;
        for (; next_ < last; --pairs, ++next_) {
            if (pairs == 0) return true;
            const auto row = static_cast<Index>(next_ / instance_.count);
            const auto task = static_cast<Index>(next_ % instance_.count);
            if (can_start(instance_, source_[row], task)) add(row, task, below);
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
        if (!dispatch(instance_, from, task, place, child)) continue;
        raise_floor(instance_, child);
        const auto [end, total] = bound_.of(child, below);
        if (end >= below) continue;
        settle(instance_, child, end);
        child.figures.guide = std::max(total, end * instance_.cpus);
        child.figures.step = {row, task, cpu.number};
        keep(child);
    }
}

// Keeps a row unless it is superfluous; it takes the place of one that it makes superfluous.
void Layers::keep(const Row& child) {
    for (Index row = first_like(child); row != nowhere; row = target_[row].figures.following) {
        const Row other = target_[row];
        if (!agree(other, child)) continue;
        if (is_no_later(instance_, other, child)) return;
        if (is_no_later(instance_, child, other)) {
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

DFOPT_OBJECT(Layers, Layers)
DFOPT_FUNCTION(Layers_extend, &Layers::extend)
DFOPT_FUNCTION(Layers_has_dropped, &Layers::has_dropped)
DFOPT_FUNCTION(Layers_find_end, &Layers::find_end)
DFOPT_FUNCTION(Layers_dispatches, &Layers::dispatches)

} // namespace dfopt::waiting
