#include "annealing.hpp"

#include <utility>

namespace dfopt::annealing {

namespace {

// A change that moves more than 1,000 starts is given up.
constexpr Index most_updates = 1'000;

} // namespace

Annealing::Annealing(const TraceRows& trace, const Bounds& bounds, Rows<double> chances,
                     std::uint64_t seed)
    : orders_(trace, bounds), changes_(orders_, Random(seed)), chances_(chances) {}

void Annealing::watch(Index low, Index high) {
    orders_.watch(low, high);
    orders_.keep();
}

void Annealing::anneal(std::int64_t changes, double temperature) {
    for (; changes > 0; --changes) {
        const Change change = changes_.propose();
        if (change.begin == none) continue;
        const Meetings met = meetings(change);
        Cost rise = 0;
        for (std::size_t pair = 0; pair < met.count; ++pair) {
            rise += orders_.meeting_cost(met.after[pair].left, met.after[pair].right) -
                    orders_.meeting_cost(met.before[pair].left, met.before[pair].right);
        }
        const double chance = chances_[changes_.random.below(std::ssize(chances_))];
        if (static_cast<double>(rise) > temperature * chance || !make(change, met)) continue;
        orders_.add_cost(rise);
        for (std::size_t pair = 0; pair < met.count; ++pair) {
            orders_.note_opening(met.after[pair].right);
        }
    }
}

// Makes a change, or takes it back if it is not within the limits. Returns whether it is.
bool Annealing::make(const Change& change, const Meetings& met) {
    const Totals totals = orders_.totals();
    const auto& [begin, end, other_begin, other_end, behind] = change;
    const Index cpu = orders_[begin].cpu;
    const Index other_cpu = orders_[other_begin == none ? behind : other_begin].cpu;
    if (other_begin == none) {
        orders_.put_on(begin, end, behind, other_cpu);
    } else {
        orders_.put_on(begin, end, orders_[other_begin].before, other_cpu);
        orders_.put_on(other_begin, other_end, orders_[begin].before, cpu);
    }
    for (std::size_t pair = 0; pair < met.count; ++pair) {
        orders_.link(met.after[pair].left, met.after[pair].right);
    }
    for (std::size_t pair = 0; pair < met.count; ++pair) {
        orders_.queue_after(met.after[pair].right, 0);
    }
    if (orders_.propagate(most_updates)) return true;
    orders_.restore(totals);
    for (std::size_t pair = 0; pair < met.count; ++pair) {
        orders_.link(met.before[pair].left, met.before[pair].right);
    }
    if (cpu != other_cpu) {
        orders_.take_back(begin, end, cpu);
        if (other_begin != none) orders_.take_back(other_begin, other_end, other_cpu);
    }
    return false;
}

void Annealing::keep_if_cheaper() {
    if (orders_.totals().cost < orders_.kept_totals().cost) orders_.keep();
}

std::span<const Placement> Annealing::placements() {
    placements_.clear();
    for (Index element = 0; element < orders_.dispatches(); ++element) {
        placements_.push_back({orders_[element].start, orders_[element].cpu});
    }
    return placements_;
}

Annealing::Meetings Annealing::meetings(const Change& change) const {
    auto [begin, end, other_begin, other_end, behind] = change;
    Index before = orders_[begin].before;
    const Index after = orders_[end].after;
    if (other_begin == none) {
        const Index follower = orders_[behind].after;
        return {{{{before, begin}, {end, after}, {behind, follower}}},
                {{{before, after}, {behind, begin}, {end, follower}}},
                3};
    }
    const Index other_before = orders_[other_begin].before;
    Index other_after = orders_[other_end].after;
    if (after == other_begin || other_after == begin) {
        // One segment follows the other.
        if (other_after == begin) {
            std::swap(begin, other_begin);
            std::swap(end, other_end);
            before = other_before;
            other_after = after;
        }
        return {{{{before, begin}, {end, other_begin}, {other_end, other_after}}},
                {{{before, other_begin}, {other_end, begin}, {end, other_after}}},
                3};
    }
    return {
        {{{before, begin}, {end, after}, {other_before, other_begin}, {other_end, other_after}}},
        {{{before, other_begin}, {other_end, after}, {other_before, begin}, {end, other_after}}},
        4};
}

} // namespace dfopt::annealing
