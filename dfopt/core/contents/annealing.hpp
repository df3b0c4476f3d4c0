// Simulated annealing with a target.
//
// A move that makes things worse by r is made with the probability exp(-r / temperature)
// (Metropolis et al. 1953; Kirkpatrick, Gelatt and Vecchi 1983). If the objective is the largest
// cost of a CPU, "worse" is measured by how far the CPUs are above a target, one less than the best
// objective so far, since most moves do not change the largest cost. Where CPUs are evened out, the
// sum of all costs has a target too.

#pragma once

#include "contents.hpp"
#include "moves.hpp"

#include <algorithm>
#include <optional>

namespace dfopt::contents {

class Annealing {
  public:
    Annealing(Instance instance, std::uint64_t seed);
    Annealing(const Annealing&) = delete; // its contents refer to its instance
    Annealing& operator=(const Annealing&) = delete;

    // Gives a CPU that is empty its tasks.
    void fill(Index cpu, std::span<const Held> tasks);

    // Lets only a schedule that costs less than `known` be news.
    void compare_with(Cost known);

    // Aims at costs of all CPUs within a target.
    void set_target(Cost target);

    // Aims at one less than the best objective so far, down to `goal`. To aim at a far goal from
    // the start leads to worse schedules where it is out of reach.
    void aim(Cost goal) { set_target(std::max(goal, best_ - 1)); }

    // Lets the sum of all costs have a target too.
    void allow(Cost total) { allowed_ = total; }

    // Tries this number of random moves, for one better schedule after the other. The temperature
    // is multiplied by `cooling` before each move. Returns whether the best schedule is within the
    // goal, which ends the walk.
    bool walk(std::int64_t moves, double temperature, double cooling, Cost goal);

    Cost best() const { return best_; }
    std::span<const std::vector<Held>> best_types() const { return best_types_; }
    const Contents& contents() const { return contents_; }

    // Returns whether all that is kept up to date is what it would be if it were worked out anew.
    bool is_sound() const;

  private:
    bool is_met() const;
    void step(double temperature);
    double rise(Cost before, Cost after, Cost other_before, Cost other_after) const;
    void make(Index cpu, Side side, const After& after);
    void keep_best();

    const Instance instance_;
    Contents contents_;
    Moves moves_;
    After after_, other_after_;

    Cost target_ = 0;
    Cost total_ = 0; // of all CPUs
    std::optional<Cost> allowed_;
    AboveTarget above_;
    Cost best_ = impossible; // the best objective so far
    Index over_ = 0;         // how many CPUs cost at least as much
    std::vector<std::vector<Held>> best_types_;
};

} // namespace dfopt::contents
