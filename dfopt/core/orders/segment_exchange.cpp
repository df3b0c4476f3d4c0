#include "segment_exchange.hpp"

#include <algorithm>
#include <utility>

namespace dfopt::orders {

namespace {

// Segments that are no blocks of equal tasks have at most 8 tasks, or 4 on their own CPU; but for
// ends of orders.
constexpr Index longest = 8, longest_on_own_cpu = 4;

// Where the largest cost counts, every second move begins with the most expensive of some CPUs.
constexpr int drawn_again = 3;

// Returns what a CPU adds to the energy: near the largest cost it grows as the cost does.
double weight(Cost cost, double scale) {
    const double part = static_cast<double>(cost) / scale;
    return part * part * part * part * scale / 4;
}

// Lets two segments of two orders change places.
void swap(std::vector<Index>& one, Segment segment, std::vector<Index>& other, Segment answer) {
    if (segment.size < answer.size) return swap(other, answer, one, segment);
    const auto from = one.begin() + segment.first, to = other.begin() + answer.first;
    const auto rest = from + answer.size, behind = from + segment.size;
    std::swap_ranges(from, rest, to);
    other.insert(to + answer.size, rest, behind);
    one.erase(rest, behind);
}

} // namespace

Cost SegmentExchange::walk(std::int64_t moves, double temperature) {
    const auto cpus = static_cast<Index>(cpus_.size());
    for (; moves > 0; --moves) {
        Index i = random_.below(cpus);
        const Index j = random_.below(cpus);
        if (by_worst_ && random_.below(2) == 0) {
            for (int draw = 0; draw < drawn_again; ++draw) {
                const Index other = random_.below(cpus);
                if (cpus_[other].cost > cpus_[i].cost) i = other;
            }
        }
        Cpu &one = cpus_[i], &other = cpus_[j];
        const Index p = 1 + random_.below(one.length() + 1),
                    q = 1 + random_.below(other.length() + 1);
        if (i != j) {
            exchange(one, p, other, q, temperature);
        } else if (p <= one.length() && one.length() > 1) {
            const Index kind = random_.below(3);
            if (kind == 0) {
                reverse(one, std::min(p, q), std::max(p, q), temperature);
            } else {
                shift(one, p, q, kind == 2, temperature);
            }
        }
    }
    return best_;
}

// Returns the cost of the switches from one place of a CPU to another one.
Cost SegmentExchange::path_cost(const Cpu& cpu, Index first, Index last) const {
    Cost cost = 0;
    for (Index place = first; place < last; ++place) {
        cost += between(cpu.order[place], cpu.order[place + 1]);
    }
    return cost;
}

std::int64_t SegmentExchange::size_of(const Cpu& cpu, Segment segment) const {
    std::int64_t size = 0;
    for (Index place = segment.first; place < segment.behind(); ++place) {
        size += sizes_[cpu.order[place]];
    }
    return size;
}

// Returns how many equal types stand at a place and behind it.
Index SegmentExchange::block_size(const Cpu& cpu, Index place) const {
    Index behind = place + 1;
    while (behind <= cpu.length() && cpu.order[behind] == cpu.order[place]) ++behind;
    return behind - place;
}

// Tries to turn a segment round.
void SegmentExchange::reverse(Cpu& cpu, Index first, Index last, double temperature) {
    if (first == last || last > cpu.length()) return;
    auto& order = cpu.order;
    const Index before = order[first - 1], behind = order[last + 1];
    Cost change = between(before, order[last]) + between(order[first], behind) -
                  between(before, order[first]) - between(order[last], behind);
    for (Index place = first; place < last; ++place) {
        change += between(order[place + 1], order[place]);
        change -= between(order[place], order[place + 1]);
    }
    if (!is_accepted(cpu, change, nullptr, 0, temperature)) return;
    std::reverse(order.begin() + first, order.begin() + last + 1);
    cpu.cost += change;
    keep_best(cpu.cost);
}

// Tries to put a segment before what stands at another place of its CPU.
void SegmentExchange::shift(Cpu& cpu, Index place, Index target, bool is_block,
                            double temperature) {
    const Segment segment{place, is_block ? block_size(cpu, place)
                                          : std::min(cpu.length() + 1 - place,
                                                     1 + random_.below(longest_on_own_cpu))};
    if (place <= target && target <= segment.behind()) return;
    auto& order = cpu.order;
    const Index first = order[place], last = order[segment.behind() - 1];
    const Index a = order[place - 1], b = order[segment.behind()];
    const Index c = order[target - 1], d = order[target];
    const Cost change = between(a, b) - between(a, first) - between(last, b) - between(c, d) +
                        between(c, first) + between(last, d);
    if (!is_accepted(cpu, change, nullptr, 0, temperature)) return;
    const auto from = order.begin() + place, behind = order.begin() + segment.behind();
    const auto to = order.begin() + target;
    if (target < place) {
        std::rotate(to, from, behind);
    } else {
        std::rotate(from, behind, to);
    }
    cpu.cost += change;
    keep_best(cpu.cost);
}

// Tries to exchange segments that begin at some places of two CPUs.
void SegmentExchange::exchange(Cpu& one, Index place, Cpu& other, Index other_place,
                               double temperature) {
    // How many tasks stand there up to the end.
    const Index most = one.length() + 1 - place, other_most = other.length() + 1 - other_place;
    Segment segment{place, 0}, answer{other_place, 0};
    const Index kind = random_.below(4);
    if (kind == 0) { // ends of orders
        segment.size = most;
        answer.size = other_most;
    } else {
        if (most > 0) segment.size = block_size(one, place);
        if (kind == 1 && segment.size > 1) {
            segment.size = 1 + random_.below(segment.size);
        } else if (kind == 2) {
            segment.size = std::min(most, 1 + random_.below(longest));
        }
        const Index answers = random_.below(4);
        if (answers == 0 && other_most > 0) {
            answer.size = block_size(other, other_place);
        } else if (answers == 1) {
            answer.size = std::min(segment.size, other_most);
        }
    }
    const Index longer = answer.size - segment.size;
    if (one.length() + longer > capacity_ || other.length() - longer > capacity_) return;
    if (segment.size + answer.size == 0) return;
    const std::int64_t growth = size_of(other, answer) - size_of(one, segment);
    if (one.load + growth > room_ || other.load - growth > room_) return;
    const Cost change = change_of(one, segment, other, answer);
    const Cost other_change = change_of(other, answer, one, segment);
    if (!is_accepted(one, change, &other, other_change, temperature)) return;
    swap(one.order, segment, other.order, answer);
    one.load += growth;
    other.load -= growth;
    one.cost += change;
    other.cost += other_change;
    keep_best(std::max(one.cost, other.cost));
}

// Returns by how much the cost of a CPU grows if it gains a segment of another one for its own.
Cost SegmentExchange::change_of(const Cpu& cpu, Segment loses, const Cpu& other,
                                Segment gains) const {
    const Index before = cpu.order[loses.first - 1], behind = cpu.order[loses.behind()];
    const Cost lost = path_cost(cpu, loses.first - 1, loses.behind());
    if (gains.size == 0) return between(before, behind) - lost;
    const Index last = gains.behind() - 1;
    return between(before, other.order[gains.first]) + path_cost(other, gains.first, last) +
           between(other.order[last], behind) - lost;
}

// Returns whether a move is made. If so, its changes count.
bool SegmentExchange::is_accepted(const Cpu& cpu, Cost change, const Cpu* other, Cost other_change,
                                  double temperature) {
    auto rise = static_cast<double>(change + other_change);
    if (by_worst_) {
        const double scale = std::max(1.0, static_cast<double>(best_));
        rise = weight(cpu.cost + change, scale) - weight(cpu.cost, scale);
        if (other) rise += weight(other->cost + other_change, scale) - weight(other->cost, scale);
    }
    if (!random_.accepts(rise, temperature)) return false;
    total_ += change + other_change;
    return true;
}

// Keeps the schedule if it is the best so far. `largest` is the largest cost of the CPUs that have
// changed.
void SegmentExchange::keep_best(Cost largest) {
    Cost now = by_worst_ ? largest : total_;
    if (now >= best_) return;
    if (by_worst_) {
        for (const Cpu& cpu : cpus_) now = std::max(now, cpu.cost);
        if (now >= best_) return;
    }
    best_ = now;
    best_orders_.resize(cpus_.size());
    for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu) best_orders_[cpu] = cpus_[cpu].order;
}

Rows<Run> SegmentExchange::best() {
    listed_.clear();
    for (std::size_t cpu = 0; cpu < best_orders_.size(); ++cpu) {
        for (std::size_t place = 1; place + 1 < best_orders_[cpu].size(); ++place) {
            listed_.push_back({static_cast<std::int64_t>(cpu), best_orders_[cpu][place]});
        }
    }
    return listed_;
}

DFOPT_OBJECT(SegmentWalk, SegmentExchange)
DFOPT_FUNCTION(SegmentWalk_walk, &SegmentExchange::walk)
DFOPT_FUNCTION(SegmentWalk_best, &SegmentExchange::best)

} // namespace dfopt::orders
