// Simulated annealing with a target.
//
// A move that makes things worse by r is made with the probability exp(-r / temperature)
// (Metropolis et al. 1953; Kirkpatrick, Gelatt and Vecchi 1983). If the objective is the largest
// cost of a CPU, "worse" is measured by how far the CPUs are above a target, one less than the best
// objective so far, since most moves do not change the largest cost.

#pragma once

#include "contents.hpp"
#include "moves.hpp"

#include <algorithm>

namespace dfopt::contents {

// How many tasks of a type a CPU holds.
struct HeldByCpu {
    std::int64_t cpu, type, count;
};

class Annealing {
  public:
    // `held` has what the CPUs hold at first, by CPU and type. The rest is as in Instance.
    Annealing(Rows<TaskType> types, Rows<CpuStart> starts, Rows<HeldByCpu> held,
              std::int64_t fragments, std::int64_t room, bool has_sizes, bool adds_up,
              std::uint64_t seed)
        : instance_{types, starts, fragments, room, has_sizes, adds_up}, contents_(instance_),
          moves_(instance_, contents_, above_, Random(seed)), above_(starts.size()),
          best_types_(starts.size()) {
        for (Index cpu = 0; cpu < contents_.cpus(); ++cpu) {
            moves_.move.clear();
            for (const auto& [number, type, count] :
                 std::ranges::equal_range(held, cpu, {}, &HeldByCpu::cpu)) {
                moves_.move.push_back({static_cast<Index>(type), static_cast<Index>(count)});
            }
            contents_.evaluate(moves_.move, cpu, Side::gains, after_);
            make(cpu, Side::gains, after_);
        }
    }
    Annealing(const Annealing&) = delete; // its contents refer to its instance
    Annealing& operator=(const Annealing&) = delete;
    static bool fit(Rows<TaskType>, Rows<CpuStart>, Rows<HeldByCpu>, std::int64_t, std::int64_t,
                    bool, bool, std::uint64_t) {
        return true;
    }

    // Tries this number of random moves, for one better schedule after the other. The temperature
    // is multiplied by `cooling` before each move. A schedule within the goal ends the walk. Only
    // one that costs less than `known` is kept as the best. Returns the best objective so far.
    //
    // The target is one less than that, down to the goal: to aim at a far goal from the start leads
    // to worse schedules where it is out of reach.
    Cost walk(std::int64_t moves, double temperature, double cooling, Cost goal, Cost known);

    // Returns what the CPUs hold now, or in the best schedule so far, by CPU and type.
    Rows<HeldByCpu> contents(bool best);

    // Returns what each CPU costs now.
    Integers costs();

  private:
    void set_target(Cost target);
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
    AboveTarget above_;
    Cost best_ = impossible; // the best objective so far
    std::vector<std::vector<Held>> best_types_;
    std::vector<HeldByCpu> listed_;
    std::vector<Cost> costs_;
};

} // namespace dfopt::contents
