#include "annealing.hpp"

#include <algorithm>
#include <utility>

namespace dfopt::annealing {

Annealing::Annealing(const TraceRows& trace, const Bounds& bounds, ExcessPrices prices,
                     Rows<double> chances, std::uint64_t seed)
    : orders_(trace, bounds), changes_(orders_, Random(seed)), prices_(prices), chances_(chances) {}

bool Annealing::settle() { return orders_.settle() && orders_.totals().lateness == 0; }

void Annealing::anneal(Index low, Index high, std::int64_t changes, double temperature,
                       double cost_price, double late_price) {
    for (; changes > 0; --changes) {
        const Change change = changes_.propose(low, high);
        if (change.begin == none) continue;
        const Meetings met = meetings(change);
        Cost rise = 0;
        for (std::size_t pair = 0; pair < met.count; ++pair) {
            rise += orders_.meeting_cost(met.after[pair].left, met.after[pair].right) -
                    orders_.meeting_cost(met.before[pair].left, met.before[pair].right);
        }
        const Totals totals = orders_.totals();
        const double chance = temperature * chances_[changes_.random.below(std::ssize(chances_))];
        const double allowed = chance - static_cast<double>(rise) * cost_price;
        // At best nothing is late any more.
        const double most = badness(totals) + allowed / late_price;
        if (most < 0) continue;
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
        if (orders_.propagate(static_cast<double>(totals.lateness) + most) &&
            badness(orders_.totals()) <= most) {
            orders_.add_cost(rise);
            for (std::size_t pair = 0; pair < met.count; ++pair) {
                orders_.note_opening(met.after[pair].right);
            }
            continue;
        }
        orders_.restore(totals);
        for (std::size_t pair = 0; pair < met.count; ++pair) {
            orders_.link(met.before[pair].left, met.before[pair].right);
        }
        if (cpu != other_cpu) {
            orders_.take_back(begin, end, cpu);
            if (other_begin != none) orders_.take_back(other_begin, other_end, other_cpu);
        }
    }
}

void Annealing::keep_if_better(Index level) {
    if (quality(orders_.totals()) < quality(orders_.kept_totals(level))) keep(level);
}

void Annealing::go_back_if_worse(Index level) {
    if (quality(orders_.totals()) > quality(orders_.kept_totals(level))) {
        orders_.go_back(level);
    }
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

// Returns what makes one schedule better than another: the smaller, the better.
std::pair<double, Cost> Annealing::quality(const Totals& totals) const {
    return {badness(totals), totals.cost};
}

// Returns by how much a schedule is beyond its limits.
double Annealing::badness(const Totals& totals) const {
    const Bounds& bounds = orders_.bounds();
    const auto too_long = static_cast<double>(std::max<Time>(0, totals.waits - bounds.total));
    const auto too_many =
        static_cast<double>(std::max<std::int64_t>(0, totals.long_waits - bounds.most_long));
    return static_cast<double>(totals.lateness) + too_long * prices_.wait +
           too_many * prices_.long_wait;
}

} // namespace dfopt::annealing
