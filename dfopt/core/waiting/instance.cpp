#include "instance.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace dfopt::waiting {

Instance::Instance(Rows<Task> tasks, Rows<State> states, Integers switches, Flags replaces,
                   Integers starts, Flags waits, Flags comes_later, std::int64_t room)
    : tasks(tasks), states(states), switches(switches), replaces(replaces), starts(starts),
      room(room), count(static_cast<Index>(tasks.size())), cpus(static_cast<Index>(starts.size())),
      before(tasks.size()), after(tasks.size()), earlier(tasks.size()), predecessors(tasks.size()),
      latest_first(tasks.size()) {
    std::iota(latest_first.begin(), latest_first.end(), 0);
    std::ranges::sort(latest_first, {},
                      [&](Index task) { return std::pair(-tasks[task].head, task); });
    for (Index task = 0; task < count; ++task) {
        for (Index other = 0; other < count; ++other) {
            const std::size_t pair = task * tasks.size() + other;
            if (comes_later[pair]) insert(earlier[task], other);
            if (!waits[pair]) continue;
            insert(before[task], other);
            insert(after[other], task);
            predecessors[task].push_back(other);
        }
    }
}

DFOPT_OBJECT(WaitingTasks, Instance)

} // namespace dfopt::waiting
