// Local search for tasks that wait: simulated annealing over lists of tasks.
//
// A list holds all tasks, each after those that it waits for, with a CPU for each; every CPU runs
// its tasks in the order of the list, as early as it can. A move puts a task beside another one, on
// the CPU of that one or on its own, or lets two tasks change places (Kirkpatrick, Gelatt and
// Vecchi 1983). Putting tasks beside tasks of their fragment is what saves switches.

#pragma once

#include "instance.hpp"

namespace dfopt::waiting {

class ListAnnealing {
  public:
    // `dispatches` are those of all tasks, as they come. The instance must stay where it is.
    ListAnnealing(const Instance& instance, Rows<Dispatch> dispatches, std::uint64_t seed)
        : instance_(instance), random_(seed), position_(dispatches.size()), cpu_(dispatches.size()),
          end_(dispatches.size()), load_(instance.cpus), clock_(instance.cpus),
          state_(instance.cpus) {
        for (const auto [cpu, task] : dispatches) {
            position_[task] = static_cast<Index>(order_.size());
            cpu_[task] = static_cast<Index>(cpu);
            order_.push_back(static_cast<Index>(task));
        }
        best_order_ = order_;
        best_cpus_ = cpu_;
        for (Index task = 0; task < instance.count; ++task) {
            load_[cpu_[task]] += instance.tasks[task].size;
        }
        energy_ = run();
    }
    static bool fit(const Instance& instance, Rows<Dispatch> dispatches, std::uint64_t) {
        return std::ssize(dispatches) == instance.count;
    }

    // Tries moves at one temperature. Returns when the best list so far ends, or `impossible`.
    Cost walk(std::int64_t moves, double temperature);

    // Returns the best list that a move has led to, or the first one.
    Rows<Dispatch> best();

  private:
    bool comes_after(Index task, Index other) const {
        return contains(instance_.earlier[task], other);
    }
    double run();
    void put_beside(Index one, Index other, int kind, double temperature);
    void let_change_places(Index one, Index other, double temperature);
    bool is_accepted(double temperature);
    bool can_move(Index start, Index target) const;
    void move(Index start, Index target);
    void exchange(Index one, Index other);

    const Instance& instance_;
    Random random_;
    std::vector<Index> order_, position_; // the tasks as they come, and where each of them stands
    std::vector<Index> cpu_;              // of each task
    std::vector<Cost> end_;               // of each task
    std::vector<std::int64_t> load_;      // of each CPU the size of its tasks
    std::vector<Cost> clock_;             // when each CPU is free
    std::vector<Index> state_;            // of each CPU
    Cost latest_ = 0;                     // when the last CPU ends
    double energy_;
    std::vector<Index> best_order_, best_cpus_;
    Cost best_end_ = impossible;
    std::vector<Dispatch> listed_;
};

} // namespace dfopt::waiting
