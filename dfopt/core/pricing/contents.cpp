#include "contents.hpp"

#include <cstdlib>
#include <functional>
#include <utility>

namespace dfopt::pricing {

namespace {

// Raises `better` to what `values` give with `value` on top.
DFOPT_FOR_NEWER_CPUS void raise(const Value* __restrict values, Value* __restrict better,
                                Index number, Value value) {
    for (Index one = 0; one < number; ++one) {
        better[one] = std::max(better[one], values[one] + value);
    }
}

} // namespace

void Contents::release() {
    if (!table_.empty()) instance_.spare.push_back(std::exchange(table_, {}));
}

// Goes on filling the tables; returns whether they are full.
bool Contents::fill() {
    if (!ranked_.empty()) return true;
    std::int64_t steps = steps_of_call;
    for (; fragment_ < std::ssize(fragments_); ++fragment_, next_ = 0) {
        if (next_ == 0) begin_fragment();
        const auto& options = options_.options[fragment_];
        for (; next_ < std::ssize(options); ++next_) {
            if (steps <= 0) return false;
            if (can_play(fragment_, options[next_].role)) steps -= add(options[next_]);
        }
        reach_ = next_reach_;
        for (Index ends = 0; ends < sets_; ++ends) drop_dominated(ends);
    }
    rank();
    return true;
}

// Returns whether a fragment can play a role on this CPU, beside other fragments.
bool Contents::can_play(Index fragment, Role role) const {
    const auto [is_spared, may_miss, may_visit] = fragments_[fragment];
    if (!may_visit || role == Role::alone) return false;
    return is_spared || (role != Role::first && role != Role::split);
}

void Contents::begin_fragment() {
    const Index entries = sets_ * width_ * height_;
    if (fragments_[fragment_].may_miss) {
        std::copy_n(at(fragment_, 0, 0), entries, at(fragment_ + 1, 0, 0));
    } else {
        std::fill_n(at(fragment_ + 1, 0, 0), entries, never);
    }
    next_reach_ = reach_;
}

// Adds an option; returns how many steps that took.
Index Contents::add(const Option& option) {
    next_reach_ = std::max(next_reach_, std::min(width_ - 1, reach_ + option.size));
    find_shifts(option);
    const Index role = number(option.role);
    const Index sizes = std::min(reach_ + 1, width_ - option.size);
    for (Index ends = 0; ends < sets_; ++ends) {
        if (ends & role) continue;
        for (Index size = 0; size < sizes; ++size) {
            const Value* values = at(fragment_, ends, size);
            Value* better = at(fragment_ + 1, ends | role, size + option.size);
            const RowRange live = live_[ends * width_ + size];
            for (const auto [rows, by] : shifts_) {
                const Index begin = std::max(rows.begin, live.begin);
                const Index end = std::min(rows.end, live.end);
                raise(values + begin, better + begin + by, end - begin, option.value);
            }
        }
    }
    return sets_ * sizes * height_;
}

// Finds the rows to which an option leads. A cost between two rows counts as the lower one.
void Contents::find_shifts(const Option& option) {
    shifts_.clear();
    if (grid_.back() == height_ - 1) { // rows are costs
        shifts_.push_back({{0, height_ - option.row}, option.row});
        return;
    }
    Index goal = 0;
    for (Index row = 0; row < height_; ++row) {
        const Cost cost = grid_[row] + grid_[option.row];
        if (cost > grid_.back()) break;
        while (goal + 1 < height_ && grid_[goal + 1] <= cost) ++goal;
        if (shifts_.empty() || shifts_.back().by != goal - row) {
            shifts_.push_back({{row, row}, goal - row});
        }
        ++shifts_.back().rows.end;
    }
}

// Drops what is worth no more than something smaller and cheaper; notes the rows left.
void Contents::drop_dominated(Index ends) {
    std::vector<Value> highest_in(height_, never / 2); // of smaller sizes
    for (Index size = 0; size <= reach_; ++size) {
        Value* values = at(fragment_ + 1, ends, size);
        Value highest = never / 2;
        RowRange live{height_, 0};
        for (Index row = 0; row < height_; ++row) {
            highest = std::max(highest, highest_in[row]);
            if (values[row] > highest) {
                highest = values[row];
                live = {std::min(live.begin, row), row + 1};
            } else {
                values[row] = never;
            }
            highest_in[row] = highest;
        }
        live_[ends * width_ + size] = live;
    }
}

// Visits all that may be chosen: the entries of the last table, and options that are alone, as if
// these had a size of their own.
template <typename Visitor> void Contents::visit_candidates(Visitor visit) {
    const auto candidate = [&](Cell cell, Value value, Visit alone) -> Candidate {
        // What the first visit costs depends on whether it is spared its entry.
        const Cost toll = arrival_ + (cell.ends & 1 ? 0 : departure_);
        return {grid_[cell.row] * instance_.unit + toll, value + worth_ - options_.cost * toll,
                cell, alone};
    };
    for (Index ends = 0; ends < sets_; ++ends) {
        for (Index size = 0; size < width_; ++size) {
            const Value* values = at(fragment_, ends, size);
            for (Index row = 0; row < height_; ++row) {
                if (is_possible(values[row])) {
                    visit(candidate({ends, size, row}, values[row], {}));
                }
            }
        }
    }
    const Index needed = std::ranges::count(fragments_, Index{0}, &CpuFragment::may_miss);
    for (Index fragment = 0; fragment < fragment_; ++fragment) {
        const auto [is_spared, may_miss, may_visit] = fragments_[fragment];
        if (!is_spared || !may_visit || needed > !may_miss) continue;
        const auto& options = options_.options[fragment];
        for (Index one = 0; one < std::ssize(options); ++one) {
            const Option& own = options[one];
            if (own.role != Role::alone) continue;
            visit(candidate({1, width_, own.row}, own.value, {fragment, one}));
        }
    }
}

void Contents::rank() {
    ranked_.resize(sets_ * height_);
    visit_candidates([&](const Candidate& one) {
        Ranked& known = ranked_[one.cell.ends * height_ + one.cell.row];
        known = {one.cost, std::max(known.highest, one.value)};
    });
}

Value Contents::largest(Cost limit) const {
    Value largest = 0;
    for (const auto [cost, highest] : ranked_) {
        if (cost <= limit) largest = std::max(largest, highest);
    }
    return largest;
}

void Contents::choose(Cost limit, Index most) {
    chosen_.clear();
    visits_.clear();
    paid_visits_.clear();
    tasks_.clear();
    search_.reset();
    std::vector<Candidate> best(width_ + 1); // by size; of equal ones the first
    visit_candidates([&](const Candidate& one) {
        if (one.cost <= limit && one.value > best[one.cell.size].value) best[one.cell.size] = one;
    });
    // Of equal values the smallest comes first; what is alone comes last.
    std::ranges::sort(best.begin(), best.end() - 1, std::ranges::less{},
                      [](const Candidate& one) { return std::pair(-one.value, one.cell.size); });
    best.erase(best.begin() + std::min(most, width_), best.end() - 1);
    for (const auto& [cost, value, cell, alone] : best) {
        if (value == 0) continue;
        const Index before = std::ssize(visits_);
        if (cell.size == width_) {
            visits_.push_back(alone);
        } else {
            trace(cell);
        }
        chosen_.push_back({cost, value, std::ssize(visits_) - before});
    }
}

// Adds the visits that lead to an entry of the last table.
void Contents::trace(Cell cell) {
    const auto before = std::ssize(visits_);
    for (Index fragment = fragment_ - 1; fragment >= 0; --fragment) {
        const auto [ends, size, row] = cell;
        const Value value = at(fragment + 1, ends, size)[row];
        if (!fragments_[fragment].may_miss || at(fragment, ends, size)[row] != value) {
            visits_.push_back(step_back(fragment, cell));
        }
    }
    std::reverse(visits_.begin() + before, visits_.end());
}

// Returns the option of a fragment that was added, and goes to the entry to which it was.
Visit Contents::step_back(Index fragment, Cell& cell) {
    const auto [ends, size, row] = cell;
    const Value value = at(fragment + 1, ends, size)[row];
    const auto& options = options_.options[fragment];
    for (Index one = 0; one < std::ssize(options); ++one) {
        const Option& own = options[one];
        if (own.size > size || !can_play(fragment, own.role)) continue;
        find_shifts(own);
        for (Index before = 0; before < sets_; ++before) {
            if (before & number(own.role) || (before | number(own.role)) != ends) continue;
            const Value* values = at(fragment, before, size - own.size);
            for (const auto [rows, by] : shifts_) {
                const Index source = row - by;
                if (source >= rows.begin && source < rows.end &&
                    values[source] + own.value == value) {
                    cell = {before, size - own.size, source};
                    return {fragment, one};
                }
            }
        }
    }
    std::abort(); // the tables contradict each other
}

// Goes on finding the tasks of the contents; returns whether all are found.
bool Contents::find_tasks() {
    std::int64_t steps = steps_of_call;
    while (std::ssize(paid_visits_) < std::ssize(visits_)) {
        const auto [fragment, place] = visits_[paid_visits_.size()];
        Option& option = options_.options[fragment][place];
        if (option.tasks.empty()) {
            if (!search_) search_.emplace(options_, fragment, option);
            while (const Index taken = search_->go_on()) {
                steps -= taken;
                if (steps < 0) return false;
            }
            option.tasks = search_->tasks();
            search_.reset();
        }
        paid_visits_.push_back({fragment, option.token, std::ssize(option.tasks)});
        tasks_.insert(tasks_.end(), option.tasks.begin(), option.tasks.end());
    }
    return true;
}

DFOPT_OBJECT(PricedContents, Contents)
DFOPT_FUNCTION(PricedContents_advance, &Contents::advance)
DFOPT_FUNCTION(PricedContents_release, &Contents::release)
DFOPT_FUNCTION(PricedContents_largest, &Contents::largest)
DFOPT_FUNCTION(PricedContents_choose, &Contents::choose)
DFOPT_FUNCTION(PricedContents_chosen, &Contents::chosen)
DFOPT_FUNCTION(PricedContents_visits, &Contents::visits)
DFOPT_FUNCTION(PricedContents_tasks, &Contents::tasks)

} // namespace dfopt::pricing
