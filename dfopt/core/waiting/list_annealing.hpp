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
    // `order` holds all tasks, `cpus` the CPU of each task. The instance must stay where it is.
    ListAnnealing(const Instance& instance, std::span<const std::int64_t> order,
                  std::span<const std::int64_t> cpus, std::uint64_t seed);

    // Tries moves at one temperature.
    void walk(std::int64_t moves, double temperature);

    // The best list that a move has led to, or the first one; and when it ends, or `impossible`.
    std::span<const Index> best_order() const { return best_order_; }
    std::span<const Index> best_cpus() const { return best_cpus_; }
    Cost best_end() const { return best_end_; }

  private:
    bool comes_after(Index task, Index other) const {
        return contains(instance_.earlier(task), other);
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
};

} // namespace dfopt::waiting
