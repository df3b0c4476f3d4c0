// The cost of a move: F* of a CPU as the move would leave it.
//
// Only the parts that the move touches are worked out anew. Then the best first and last fragment
// are chosen among all parts.

#include "contents.hpp"

#include <algorithm>
#include <array>

namespace dfopt::contents {

namespace {

// The least costs of all that were added, each with who has it.
template <std::size_t size> class Least {
  public:
    struct Entry {
        Cost cost = impossible;
        Index owner = nowhere;
    };

    const Entry& operator[](std::size_t rank) const { return entries_[rank]; }

    // Of equal costs the one that came first stands first.
    void add(Cost cost, Index owner) {
        for (std::size_t rank = 0; rank < size; ++rank) {
            if (cost < entries_[rank].cost) {
                for (std::size_t later = size - 1; later > rank; --later) {
                    entries_[later] = entries_[later - 1];
                }
                entries_[rank] = {cost, owner};
                return;
            }
        }
    }

  private:
    std::array<Entry, size> entries_{};
};

// The tasks of a part, of which only a few matter for its costs: the two cheapest openers, the
// three cheapest closers and the two that are cheapest as the CPU's last one. Types are sorted by
// their entries, so that the openers are tasks 0 and 1.
class PartTasks {
  public:
    explicit PartTasks(Rows<TaskType> types) : types_(types) {}

    Index size() const { return size_; }

    void add(Index number, Index count) {
        const TaskType& type = types_[number];
        size_ += count;
        base_ += count * type.base;
        // At most two tasks of a type matter: one opens a block, another one ends it.
        for (Index copy = 0; copy < std::min<Index>(count, 2); ++copy) {
            if (task_ < 2) entries_[task_] = type.entry;
            exits_.add(type.exit, task_);
            ends_.add(type.end, task_);
            ++task_;
        }
    }

    RoleCosts costs() const {
        const auto [exit, closer] = exits_[0];
        const auto [end, final] = ends_[0];
        if (size_ == 1) {
            const Cost both = entries_[0] + exit;
            return {base_ + both, -entries_[0], end - exit, impossible, end - both};
        }
        const Cost middle = one_block(exits_[0], exits_[1]);
        // Two blocks: the opener of the second one may be the CPU's last task too.
        Cost split = impossible;
        for (std::size_t rank = 0; rank < 3 && exits_[rank].owner != nowhere; ++rank) {
            const auto [leaving, owner] = exits_[rank];
            const Cost other_end = owner != final ? end : ends_[1].cost;
            split = std::min(split, leaving + entries_[owner == 0] + other_end);
        }
        return {base_ + middle, exit - middle, one_block(ends_[0], ends_[1]) - middle,
                split - middle, end - middle};
    }

  private:
    // Returns the cost of one block, whose opener is another task than the one that ends it.
    template <typename Entry> Cost one_block(const Entry& best, const Entry& next) const {
        if (best.owner != 0) return entries_[0] + best.cost;
        return std::min(entries_[0] + next.cost, entries_[1] + best.cost);
    }

    Rows<TaskType> types_;
    Index size_ = 0;
    Index task_ = 0; // how many of the tasks matter so far
    Cost base_ = 0;
    std::array<Cost, 2> entries_{};
    Least<3> exits_;
    Least<2> ends_;
};

} // namespace

void Contents::evaluate(const Move& move, Index cpu, Side side, After& after) const {
    const Cpu& held = cpus_[cpu];
    after.parts.clear();
    std::size_t place = 0;
    for (std::size_t change = 0, behind; change < move.size(); change = behind) {
        const auto fragment = instance_.types[move[change].type].fragment;
        for (behind = change + 1; behind < move.size(); ++behind) {
            if (instance_.types[move[behind].type].fragment != fragment) break;
        }
        while (place < held.parts.size() && held.parts[place].fragment < fragment) ++place;
        const bool is_held = place < held.parts.size() && held.parts[place].fragment == fragment;
        PartTasks tasks(instance_.types);
        visit_merged(is_held ? held.types_of(place) : Rows<Held>(),
                     std::span(move).subspan(change, behind - change), side,
                     [&](Index type, Index count, Index) { tasks.add(type, count); });
        after.parts.push_back({{static_cast<Index>(fragment), 0, tasks.size(), {}},
                               is_held ? static_cast<Index>(place) : nowhere});
        if (tasks.size() > 0) after.parts.back().part.costs = tasks.costs();
    }
    after.cost = cost_with_best_ends(cpu, after.parts);
}

// Returns the cost of a CPU with the best first and last fragment, where a move touches some parts.
Cost Contents::cost_with_best_ends(Index cpu, Rows<TouchedPart> touched) const {
    const CpuStart& start = instance_.starts[cpu];
    Index fragments = 0;
    Cost cost = 0, alone = 0, split = impossible;
    Least<2> firsts, lasts;
    const auto add = [&](const Part& part) {
        ++fragments;
        cost += part.costs.middle;
        alone = part.costs.alone;
        lasts.add(part.costs.last, part.fragment);
        if (start.free == all_are_free || start.free == part.fragment) {
            firsts.add(part.costs.first, part.fragment);
            split = std::min(split, part.costs.split);
        }
    };
    // First the parts that stay as they are, then those that the move touches.
    auto next = touched.begin();
    const auto& parts = cpus_[cpu].parts;
    for (Index place = 0; place < static_cast<Index>(parts.size()); ++place) {
        while (next != touched.end() && next->place < place) ++next;
        if (next == touched.end() || next->place != place) add(parts[place]);
    }
    for (const TouchedPart& one : touched) {
        if (one.part.size > 0) add(one.part);
    }
    if (fragments == 0) return start.idle;
    cost += start.arrival;
    const bool spares_first = firsts[0].owner != nowhere;
    const Cost nothing_spared = start.departure + lasts[0].cost;
    if (fragments == 1) return cost + (spares_first ? alone : nothing_spared);
    Cost ends = start.free == all_are_free ? impossible : nothing_spared;
    if (spares_first) {
        ends = std::min(ends, split);
        if (firsts[0].owner != lasts[0].owner) {
            ends = std::min(ends, firsts[0].cost + lasts[0].cost);
        } else {
            ends = std::min(ends, firsts[0].cost + lasts[1].cost);
            if (firsts[1].owner != nowhere) ends = std::min(ends, firsts[1].cost + lasts[0].cost);
        }
    }
    return cost + ends;
}

} // namespace dfopt::contents
