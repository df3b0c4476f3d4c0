#include "annealing.hpp"

#include <algorithm>

namespace dfopt::contents {

namespace {

// The share of a CPU's cost that counts beside its excess over the target.
constexpr double cost_share = 0.2;

Cost excess(Cost cost, Cost target) { return std::max<Cost>(cost - target, 0); }

} // namespace

void Annealing::set_target(Cost target) {
    target_ = target;
    above_.clear();
    for (Index cpu = 0; cpu < contents_.cpus(); ++cpu) {
        if (contents_[cpu].cost > target_) above_.add(cpu);
    }
}

Cost Annealing::walk(std::int64_t moves, double temperature, double cooling, Cost goal,
                     Cost known) {
    best_ = std::min(known, best_);
    set_target(std::max(goal, best_ - 1));
    keep_best();
    for (; best_ > goal; --moves) {
        if (is_met()) set_target(std::max(goal, best_ - 1));
        if (moves == 0 || contents_.cpus() == 1) break;
        temperature *= cooling;
        step(temperature);
    }
    return best_;
}

// Returns whether the objective is within the target.
bool Annealing::is_met() const { return instance_.adds_up ? total_ <= target_ : above_.empty(); }

// Tries one random move.
void Annealing::step(double temperature) {
    const auto [cpu, other] = moves_.propose();
    if (moves_.move.empty()) return;
    contents_.evaluate(moves_.move, cpu, Side::gains, after_);
    contents_.evaluate(moves_.move, other, Side::loses, other_after_);
    const double worse =
        rise(contents_[cpu].cost, after_.cost, contents_[other].cost, other_after_.cost);
    if (!moves_.random.accepts(worse, temperature)) return;
    make(cpu, Side::gains, after_);
    make(other, Side::loses, other_after_);
    keep_best();
}

// Returns by how much a move makes things worse.
double Annealing::rise(Cost before, Cost after, Cost other_before, Cost other_after) const {
    const Cost growth = after - before + other_after - other_before;
    if (instance_.adds_up) return static_cast<double>(growth);
    const Cost above = excess(after, target_) + excess(other_after, target_) -
                       excess(before, target_) - excess(other_before, target_);
    return cost_share * static_cast<double>(growth) + static_cast<double>(above);
}

// Makes the current move on a CPU.
void Annealing::make(Index cpu, Side side, const After& after) {
    const Cost before = contents_[cpu].cost;
    contents_.make(moves_.move, cpu, side, after);
    total_ += after.cost - before;
    above_.update(cpu, after.cost > target_);
}

// Keeps what the CPUs hold if it is the best so far.
void Annealing::keep_best() {
    Cost now = total_;
    if (!instance_.adds_up) {
        // Mostly some CPU above the target tells already that it is not.
        now = 0;
        for (const Index cpu : above_.cpus()) {
            if (contents_[cpu].cost >= best_) return;
        }
        for (Index cpu = 0; cpu < contents_.cpus(); ++cpu) now = std::max(now, contents_[cpu].cost);
    }
    if (now >= best_) return;
    best_ = now;
    for (Index cpu = 0; cpu < contents_.cpus(); ++cpu) best_types_[cpu] = contents_[cpu].types;
}

Rows<HeldByCpu> Annealing::contents(bool best) {
    listed_.clear();
    for (Index cpu = 0; cpu < contents_.cpus(); ++cpu) {
        for (const auto& [type, count] : best ? best_types_[cpu] : contents_[cpu].types) {
            listed_.push_back({cpu, type, count});
        }
    }
    return listed_;
}

Integers Annealing::costs() {
    costs_.clear();
    for (Index cpu = 0; cpu < contents_.cpus(); ++cpu) costs_.push_back(contents_[cpu].cost);
    return costs_;
}

DFOPT_OBJECT(Annealing, Annealing)
DFOPT_FUNCTION(Annealing_walk, &Annealing::walk)
DFOPT_FUNCTION(Annealing_contents, &Annealing::contents)
DFOPT_FUNCTION(Annealing_costs, &Annealing::costs)

} // namespace dfopt::contents
