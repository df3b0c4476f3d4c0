#include "annealing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dfopt::contents {

namespace {

// The share of a CPU's cost that counts beside its excess over the target.
constexpr double cost_share = 0.2;

// Where CPUs are evened out, the share of moves that exchange tasks of one fragment.
constexpr double within_fragment = 0.3;

Cost excess(Cost cost, Cost target) { return std::max<Cost>(cost - target, 0); }

} // namespace

Annealing::Annealing(Instance instance, std::uint64_t seed)
    : instance_(std::move(instance)), contents_(instance_),
      moves_(instance_, contents_, above_, Random(seed)), above_(instance_.starts.size()),
      best_types_(instance_.starts.size()) {}

void Annealing::fill(Index cpu, std::span<const Held> tasks) {
    moves_.move.assign(tasks.begin(), tasks.end());
    contents_.evaluate(moves_.move, cpu, Side::gains, after_);
    make(cpu, Side::gains, after_);
}

void Annealing::compare_with(Cost known) {
    best_ = std::min(known, best_);
    over_ = 0;
    for (Index cpu = 0; cpu < contents_.cpus(); ++cpu) over_ += contents_[cpu].cost >= best_;
    keep_best();
}

void Annealing::set_target(Cost target) {
    target_ = target;
    above_.clear();
    for (Index cpu = 0; cpu < contents_.cpus(); ++cpu) {
        if (contents_[cpu].cost > target_) above_.add(cpu);
    }
}

bool Annealing::walk(std::int64_t moves, double temperature, double cooling, Cost goal) {
    for (;; --moves) {
        if (is_met()) {
            compare_with(best_);
            aim(goal);
        }
        if (best_ <= goal) return true;
        if (moves == 0 || contents_.cpus() == 1) return false;
        temperature *= cooling;
        step(temperature);
    }
}

// Returns whether the objective is within the target.
bool Annealing::is_met() const { return instance_.adds_up ? total_ <= target_ : above_.empty(); }

// Tries one random move.
void Annealing::step(double temperature) {
    const bool stays_within = allowed_ && moves_.random.uniform() < within_fragment;
    const auto [cpu, other] = stays_within ? moves_.propose_within() : moves_.propose();
    if (moves_.move.empty()) return;
    contents_.evaluate(moves_.move, cpu, Side::gains, after_);
    contents_.evaluate(moves_.move, other, Side::loses, other_after_);
    const double worse =
        rise(contents_[cpu].cost, after_.cost, contents_[other].cost, other_after_.cost);
    if (worse > 0 && worse >= -temperature * std::log(moves_.random.uniform())) return;
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
    if (!allowed_) return cost_share * static_cast<double>(growth) + static_cast<double>(above);
    return static_cast<double>(above + excess(total_ + growth, *allowed_) -
                               excess(total_, *allowed_));
}

// Makes the current move on a CPU.
void Annealing::make(Index cpu, Side side, const After& after) {
    const Cost before = contents_[cpu].cost;
    contents_.make(moves_.move, cpu, side, after);
    total_ += after.cost - before;
    over_ += (after.cost >= best_) - (before >= best_);
    above_.update(cpu, after.cost > target_);
}

// Keeps what the CPUs hold if it is the best so far.
void Annealing::keep_best() {
    if (instance_.adds_up) {
        if (total_ >= best_) return;
        best_ = total_;
    } else {
        if (over_ > 0) return;
        best_ = 0;
        for (Index cpu = 0; cpu < contents_.cpus(); ++cpu) {
            best_ = std::max(best_, contents_[cpu].cost);
        }
        for (Index cpu = 0; cpu < contents_.cpus(); ++cpu) over_ += contents_[cpu].cost == best_;
    }
    for (Index cpu = 0; cpu < contents_.cpus(); ++cpu) best_types_[cpu] = contents_[cpu].types;
}

bool Annealing::is_sound() const {
    const auto listed = above_.cpus();
    Cost total = 0;
    std::size_t above = 0;
    for (Index cpu = 0; cpu < contents_.cpus(); ++cpu) {
        total += contents_[cpu].cost;
        const bool is_above = contents_[cpu].cost > target_;
        above += is_above;
        if (std::ranges::count(listed, cpu) != is_above) return false;
    }
    return total == total_ && above == listed.size() && contents_.is_sound();
}

} // namespace dfopt::contents
