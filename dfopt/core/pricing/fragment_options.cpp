#include "fragment_options.hpp"

#include <cstdlib>
#include <utility>

namespace dfopt::pricing {

namespace {

// Returns the duties of a role's tasks, apart from opening a paid block.
Duties duties_of(Role role, Duties all) {
    switch (role) {
    case Role::last:
        return ends;
    case Role::split:
        return exits | ends;
    case Role::alone:
        return all & ends ? ends : exits;
    default:
        return exits;
    }
}

// Returns a task that opens a block and may have a duty itself, with what the visit is worth.
Opener opened_by(const FragmentTasks& tasks, Index task_class, Index token, Duties duty) {
    const PricedClass& one = tasks.all.classes[task_class];
    const Priced visit{0, tasks.price.visit};
    return {tasks.all.tokens[token] + one.each + one.duties[duty] + visit, one.size, token};
}

// Returns what stands for the opener of a block whose entry is spared.
Opener unpaid(const FragmentTasks& tasks) { return {{0, tasks.price.visit}, 0, none}; }

// Returns the number and the size of all tasks.
std::pair<Index, Index> totals(const FragmentTasks& tasks) {
    Index number = 0, size = 0;
    for (Index one = tasks.own.first_class; one < tasks.own.last_class; ++one) {
        number += tasks.all.classes[one].number;
        size += tasks.all.classes[one].number * tasks.all.classes[one].size;
    }
    return {number, size};
}

} // namespace

OptionSearch::OptionSearch(const PricedTasks& all, Index fragment)
    : tasks_(all, fragment), height_(std::ssize(all.instance.grid)),
      width_(std::min(all.instance.capacity, totals(tasks_).second) + 1),
      best_(roles * height_ * width_, Best{never, none}), tables_{tasks_.table(width_)},
      range_{tasks_.own.first_class, tasks_.own.last_class, 0, 0, 0} {}

Index OptionSearch::go_on() {
    for (;;) {
        const auto [first, last, level, added, end] = range_;
        Table& table = tables_[level];
        if (added < end) {
            std::swap(spare_, table);
            return tasks_.add_class(spare_, table, range_.added++, none) + 1;
        }
        if (last - first > 1) {
            const Index middle = (first + last) / 2;
            waiting_.push_back({middle, last, level + 1, first, middle});
            take_up({first, middle, level + 1, middle, last});
        } else if (last - first == 1) {
            ++range_.first;
            if (tasks_.all.classes[first].number == 0) continue;
            const Index steps = tasks_.add_class(table, spare_, first, first);
            offer_opened(first);
            return steps + 1;
        } else if (!waiting_.empty()) {
            take_up(waiting_.back());
            waiting_.pop_back();
        } else {
            if (tasks_.own.may_be_first) {
                // The last table lacks but the last class.
                tasks_.add_class(table, spare_, tasks_.own.last_class - 1, none);
                for (const Role role : {Role::first, Role::alone}) {
                    offer(role, spare_, duties_of(role, spare_.sets - 1), unpaid(tasks_));
                }
            }
            for (const Role role :
                 {Role::middle, Role::first, Role::last, Role::split, Role::alone}) {
                if (may_play(role)) list(role);
            }
            return 0;
        }
    }
}

// Returns whether the fragment can play a role on some CPU.
bool OptionSearch::may_play(Role role) const {
    return role == Role::middle || role == Role::last || tasks_.own.may_be_first;
}

void OptionSearch::take_up(Range range) {
    range_ = range;
    tables_.resize(std::max(std::ssize(tables_), range.level + 1));
    tables_[range.level] = tables_[range.level - 1];
}

// Raises the options to what blocks opened with tasks of one class offer; all other tasks of the
// fragment are in `spare_`.
void OptionSearch::offer_opened(Index task_class) {
    const PricedTasks& all = tasks_.all;
    const bool may_be_single = !tasks_.price.is_whole || totals(tasks_).first == 1;
    const TaskClass& own = all.instance.classes[task_class];
    Value highest = never;
    for (Index token = own.first_token; token < own.last_token; ++token) {
        if (all.tokens[token].value <= highest) {
            continue; // it costs more than another token, and is worth no more
        }
        highest = all.tokens[token].value;
        for (const Role role : {Role::middle, Role::last, Role::split}) {
            const Duties duties = duties_of(role, all.instance.duties);
            if (duties & ~all.instance.duties || !may_play(role)) continue;
            offer(role, spare_, duties, opened_by(tasks_, task_class, token, 0));
            if (role == Role::split) {
                // Two blocks: the opener of the second may be its last task too.
                offer(role, spare_, exits, opened_by(tasks_, task_class, token, ends));
            } else if (may_be_single) {
                Opener single = opened_by(tasks_, task_class, token, duties);
                single.priced.value += all.bonus(task_class, 1);
                offer(role, nothing_, 0, single);
            }
        }
    }
}

// Raises the options to what a table offers with an opener on top.
void OptionSearch::offer(Role role, Table& table, Duties duties, Opener opener) {
    const Index sizes = std::min(table.width, width_ - opener.size);
    for (Index row = 0; row < table.height; ++row) {
        const Cost cost = tasks_.rows[row] + opener.priced.cost;
        const Index goal = row_at_most(tasks_.all.instance.grid, cost);
        if (goal == none) break;
        const Value* values = table.at(duties, row);
        Best* better = best_.data() + (number(role) * height_ + goal) * width_ + opener.size;
        for (Index size = 0; size < sizes; ++size) {
            const Value value = values[size] + opener.priced.value;
            if (is_possible(values[size]) && value > better[size].value) {
                better[size] = {value, opener.token};
            }
        }
    }
}

// Lists the options of one role.
void OptionSearch::list(Role role) {
    // A block in the middle must be worth more than none, unless there has to be one.
    const Value floor = role == Role::middle && !tasks_.price.is_paired ? 0 : never;
    std::vector<Value> highest_at(width_, floor); // up to this row
    const Best* best = best_.data() + number(role) * height_ * width_;
    for (Index row = 0; row < height_; ++row) {
        Value highest = floor;
        for (Index size = 0; size < width_; ++size, ++best) {
            highest = std::max(highest, highest_at[size]);
            if (best->value > highest) {
                highest_at[size] = highest = best->value;
                options.push_back({role, row, size, best->value, best->token, {}});
            }
        }
    }
}

bool PricedOptions::advance() {
    options.resize(fragments.size());
    std::int64_t steps = steps_of_call;
    for (; next_ < std::ssize(options); ++next_) {
        if (!fragments[next_].is_changed) continue;
        if (!search_) search_.emplace(*this, next_);
        while (const Index taken = search_->go_on()) {
            steps -= taken;
            if (steps < 0) return false;
        }
        options[next_] = std::move(search_->options);
        search_.reset();
    }
    return true;
}

TaskSearch::TaskSearch(const PricedTasks& all, Index fragment, const Option& option)
    : tasks_(all, fragment), option_(option), tables_{tasks_.table(option.size + 1)} {
    if (option.token == none) return;
    opener_ = tasks_.own.first_class;
    while (all.instance.classes[opener_].last_token <= option.token) ++opener_;
}

Index TaskSearch::go_on() {
    const Index task_class = tasks_.own.first_class + std::ssize(tables_) - 1;
    if (task_class == tasks_.own.last_class) return 0;
    tables_.emplace_back();
    return tasks_.add_class(tables_.end()[-2], tables_.back(), task_class, opener_) + 1;
}

std::vector<Held> TaskSearch::tasks() {
    const Integers grid = tasks_.all.instance.grid;
    const Duties duties = duties_of(option_.role, tasks_.all.instance.duties);
    for (const Duties own : {Duties{0}, ends}) {
        // Only the opener of the second of two blocks may be its last task too.
        if (own != 0 && option_.role != Role::split) break;
        const Opener opener =
            opener_ == none ? unpaid(tasks_) : opened_by(tasks_, opener_, option_.token, own);
        if (opener.size > option_.size) break;
        // Of the entries that give the option with the opener on top, the cheapest one.
        Place place{duties & ~own, 0, option_.size - opener.size};
        for (; place.row < std::ssize(tasks_.rows); ++place.row) {
            const Cost cost = tasks_.rows[place.row] + opener.priced.cost;
            if (tables_.back()[place] + opener.priced.value == option_.value &&
                row_at_most(grid, cost) == option_.row) {
                return tasks_.trace(tables_, opener_, place);
            }
        }
    }
    if (opener_ == none) std::abort(); // the tables contradict each other
    return {{opener_, 1}};             // a block of a single task
}

DFOPT_OBJECT(PricingTables, Instance)
DFOPT_OBJECT(PricedOptions, PricedOptions)
DFOPT_FUNCTION(PricedOptions_take_over, &PricedOptions::take_over)
DFOPT_FUNCTION(PricedOptions_advance, &PricedOptions::advance)

} // namespace dfopt::pricing
