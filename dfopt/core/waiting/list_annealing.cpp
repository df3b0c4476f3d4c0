#include "list_annealing.hpp"

#include <algorithm>
#include <utility>

namespace dfopt::waiting {

namespace {

// What the average ends of the CPUs and of the tasks count beside the latest end.
constexpr double share_of_cpus = 0.1, share_of_tasks = 0.1;

// Kinds of moves: a task goes behind another one, before it, or before it but on its own CPU; or
// two tasks change places.
enum Kind { behind, before, before_on_own_cpu, exchange_places, kinds };

} // namespace

Cost ListAnnealing::walk(std::int64_t moves, double temperature) {
    for (; moves > 0; --moves) {
        const int kind = random_.below<int>(kinds);
        const Index one = random_.below(instance_.count);
        const Index other = random_.below(instance_.count);
        if (one == other) continue;
        if (kind == exchange_places) {
            let_change_places(one, other, temperature);
        } else {
            put_beside(one, other, kind, temperature);
        }
    }
    return best_end_;
}

Rows<Dispatch> ListAnnealing::best() {
    listed_.clear();
    for (const Index task : best_order_) listed_.push_back({best_cpus_[task], task});
    return listed_;
}

// Works out when all tasks and CPUs end. Returns the energy of the list.
double ListAnnealing::run() {
    for (Index cpu = 0; cpu < instance_.cpus; ++cpu) {
        clock_[cpu] = 0;
        state_[cpu] = static_cast<Index>(instance_.starts[cpu]);
    }
    Cost ends = 0;
    for (const Index number : order_) {
        const Task& task = instance_.tasks[number];
        const Index cpu = cpu_[number];
        Cost begin = std::max(task.release, clock_[cpu]);
        for (const Index other : instance_.predecessors[number]) {
            begin = std::max(begin, end_[other]);
        }
        const Cost end = begin + instance_.switch_cost(state_[cpu], number) + task.exec;
        ends += end;
        end_[number] = end;
        clock_[cpu] = end;
        state_[cpu] = static_cast<Index>(task.state);
    }
    Cost clocks = 0;
    latest_ = 0;
    for (Index cpu = 0; cpu < instance_.cpus; ++cpu) {
        clock_[cpu] += instance_.states[state_[cpu]].finish;
        clocks += clock_[cpu];
        latest_ = std::max(latest_, clock_[cpu]);
    }
    const double mean_of_cpus = static_cast<double>(clocks) / instance_.cpus;
    const double mean_of_tasks = static_cast<double>(ends) / instance_.count;
    return static_cast<double>(latest_) + share_of_cpus * mean_of_cpus +
           share_of_tasks * mean_of_tasks;
}

void ListAnnealing::put_beside(Index one, Index other, int kind, double temperature) {
    const Index start = position_[one];
    Index target = position_[other];
    const Index old_cpu = cpu_[one];
    const Index new_cpu = kind == before_on_own_cpu ? old_cpu : cpu_[other];
    if (target > start) --target;
    if (kind == behind) ++target;
    const std::int64_t size = instance_.tasks[one].size;
    if (new_cpu != old_cpu && load_[new_cpu] + size > instance_.room) return;
    if ((start == target && new_cpu == old_cpu) || !can_move(start, target)) return;
    move(start, target);
    cpu_[one] = new_cpu;
    if (is_accepted(temperature)) {
        load_[old_cpu] -= size;
        load_[new_cpu] += size;
    } else {
        move(target, start);
        cpu_[one] = old_cpu;
    }
}

void ListAnnealing::let_change_places(Index one, Index other, double temperature) {
    if (position_[one] > position_[other]) std::swap(one, other);
    const Index start = position_[one], target = position_[other];
    const Index cpu = cpu_[one], other_cpu = cpu_[other];
    const std::int64_t change = instance_.tasks[one].size - instance_.tasks[other].size;
    if (cpu != other_cpu &&
        (load_[other_cpu] + change > instance_.room || load_[cpu] - change > instance_.room)) {
        return;
    }
    // The first may not be awaited on the way, nor may the other one wait there.
    if (!can_move(start, target) || !can_move(target, start)) return;
    exchange(one, other);
    if (!is_accepted(temperature)) {
        exchange(one, other);
    } else if (cpu != other_cpu) {
        load_[cpu] -= change;
        load_[other_cpu] += change;
    }
}

// Returns whether the walk goes on with the list as it is now; keeps it if it is the best so far.
bool ListAnnealing::is_accepted(double temperature) {
    const double changed = run();
    if (!random_.accepts(changed - energy_, temperature)) return false;
    energy_ = changed;
    if (latest_ < best_end_) {
        best_end_ = latest_;
        best_order_ = order_;
        best_cpus_ = cpu_;
    }
    return true;
}

// Returns whether a task may go from one place of the list to another one.
bool ListAnnealing::can_move(Index start, Index target) const {
    const Index task = order_[start];
    for (Index place = start + 1; place <= target; ++place) {
        if (comes_after(order_[place], task)) return false;
    }
    for (Index place = target; place < start; ++place) {
        if (comes_after(task, order_[place])) return false;
    }
    return true;
}

// Moves a task to another place of the list.
void ListAnnealing::move(Index start, Index target) {
    const Index task = order_[start];
    const Index step = target > start ? 1 : -1;
    for (Index place = start; place != target; place += step) {
        const Index other = order_[place + step];
        order_[place] = other;
        position_[other] = place;
    }
    order_[target] = task;
    position_[task] = target;
}

// Lets two tasks change their places and CPUs.
void ListAnnealing::exchange(Index one, Index other) {
    std::swap(order_[position_[one]], order_[position_[other]]);
    std::swap(position_[one], position_[other]);
    std::swap(cpu_[one], cpu_[other]);
}

DFOPT_OBJECT(ListAnnealing, ListAnnealing)
DFOPT_FUNCTION(ListAnnealing_walk, &ListAnnealing::walk)
DFOPT_FUNCTION(ListAnnealing_best, &ListAnnealing::best)

} // namespace dfopt::waiting
