#include "instance.hpp"

#include <algorithm>
#include <numeric>

namespace dfopt::waiting {

namespace {

// Returns all tasks, those with a large time first.
std::vector<Index> largest_first(std::span<const Task> tasks, Cost Task::* time) {
    std::vector<Index> sorted(tasks.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::ranges::sort(sorted, [&](Index one, Index other) {
        const Cost first = tasks[one].*time, second = tasks[other].*time;
        return first != second ? first > second : one < other;
    });
    return sorted;
}

} // namespace

Instance::Instance(const Tables& tables)
    : tables_(tables), before_(tables.tasks.size()), after_(tables.tasks.size()),
      earlier_(tables.tasks.size()), first_{0},
      latest_first_(largest_first(tables.tasks, &Task::head)),
      longest_tail_first_(largest_first(tables.tasks, &Task::tail)) {
    const bool* waits = tables.before.data();
    const bool* is_behind = tables.earlier.data();
    for (Index task = 0; task < tasks(); ++task) {
        for (Index other = 0; other < tasks(); ++other) {
            if (*is_behind++) insert(earlier_[task], other);
            if (!*waits++) continue;
            insert(before_[task], other);
            insert(after_[other], task);
            predecessors_.push_back(other);
        }
        first_.push_back(predecessors_.size());
    }
}

} // namespace dfopt::waiting
