#include "annealing.hpp"

#include <algorithm>
#include <utility>

namespace dfopt::stretch {

Annealing::Annealing(Surroundings around, std::vector<Element> elements, Totals totals,
                     ExcessPrices prices, std::vector<double> chances, std::uint64_t seed)
    : around_(std::move(around)), stretch_(around_, std::move(elements), totals),
      changes_(stretch_, Random(seed)), prices_(prices), chances_(std::move(chances)) {}

bool Annealing::settle() {
    if (!stretch_.settle() || stretch_.totals().lateness > 0) return false;
    cheapest_ = stretch_;
    return true;
}

void Annealing::anneal(Index low, Index high, std::int64_t changes, double temperature,
                       double cost_price, double late_price) {
    for (; changes > 0; --changes) {
        const Change change = changes_.propose(low, high);
        if (change.begin == nobody) continue;
        const Meetings met = meetings(change);
        Cost rise = 0;
        for (std::size_t pair = 0; pair < met.count; ++pair) {
            rise += stretch_.meeting_cost(met.after[pair].left, met.after[pair].right) -
                    stretch_.meeting_cost(met.before[pair].left, met.before[pair].right);
        }
        const Totals totals = stretch_.totals();
        const double chance = temperature * chances_[changes_.random.below(std::ssize(chances_))];
        const double allowed = chance - static_cast<double>(rise) * cost_price;
        // At best nothing is late any more.
        const double most = badness() + allowed / late_price;
        if (most < 0) continue;
        const auto& [begin, end, other_begin, other_end, behind] = change;
        const std::int64_t cpu = stretch_[begin].cpu;
        const std::int64_t other_cpu = stretch_[other_begin == nobody ? behind : other_begin].cpu;
        if (other_begin == nobody) {
            stretch_.put_on(begin, end, behind, other_cpu);
        } else {
            stretch_.put_on(begin, end, stretch_[other_begin].before, other_cpu);
            stretch_.put_on(other_begin, other_end, stretch_[begin].before, cpu);
        }
        for (std::size_t pair = 0; pair < met.count; ++pair) {
            stretch_.link(met.after[pair].left, met.after[pair].right);
        }
        for (std::size_t pair = 0; pair < met.count; ++pair) {
            stretch_.queue_after(met.after[pair].right, 0);
        }
        if (stretch_.propagate(static_cast<double>(totals.lateness) + most) && badness() <= most) {
            stretch_.add_cost(rise);
            for (std::size_t pair = 0; pair < met.count; ++pair) {
                stretch_.note_opening(met.after[pair].right);
            }
            continue;
        }
        stretch_.restore(totals);
        for (std::size_t pair = 0; pair < met.count; ++pair) {
            stretch_.link(met.before[pair].left, met.before[pair].right);
        }
        if (cpu != other_cpu) {
            stretch_.take_back(begin, end, cpu);
            if (other_begin != nobody) stretch_.take_back(other_begin, other_end, other_cpu);
        }
    }
    if (quality_of(stretch_) < quality_of(*cheapest_)) cheapest_ = stretch_;
}

void Annealing::go_back_if_worse() {
    if (quality_of(stretch_) > quality_of(*kept_)) stretch_ = *kept_;
}

Annealing::Meetings Annealing::meetings(const Change& change) const {
    auto [begin, end, other_begin, other_end, behind] = change;
    Index before = stretch_[begin].before;
    const Index after = stretch_[end].after;
    if (other_begin == nobody) {
        const Index follower = stretch_[behind].after;
        return {{{{before, begin}, {end, after}, {behind, follower}}},
                {{{before, after}, {behind, begin}, {end, follower}}},
                3};
    }
    const Index other_before = stretch_[other_begin].before;
    Index other_after = stretch_[other_end].after;
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

// Returns by how much a schedule is beyond its limits.
double Annealing::badness_of(const Stretch& stretch) const {
    const Totals& totals = stretch.totals();
    const Bounds& bounds = stretch.bounds();
    const auto too_long = static_cast<double>(std::max<Time>(0, totals.waits - bounds.total));
    const auto too_many =
        static_cast<double>(std::max<std::int64_t>(0, totals.long_waits - bounds.most_long));
    return static_cast<double>(totals.lateness) + too_long * prices_.wait +
           too_many * prices_.long_wait;
}

Annealing::Quality Annealing::quality_of(const Stretch& stretch) const {
    return {badness_of(stretch), stretch.totals().cost};
}

} // namespace dfopt::stretch
