// The cheapest way of one CPU through a stretch of time, at given prices. The text at the head of
// dfopt/compare/attainable/bound/stretches.py says what a CPU pays, and what states there are.
//
// The checker of proofs relies on this folder: it uses nothing of the searches.

#pragma once

#include "../calls.hpp"

#include <vector>

namespace dfopt::cpu_path {

using Time = std::int64_t;
using Index = std::int64_t;

// A time after all others, and a price above all others.
constexpr std::int64_t later = std::int64_t{1} << 60;

// A dispatch that a CPU is rewarded for; its length is above 0.
struct Service {
    Index fragment;
    Time earliest, latest; // when it may begin
    Time length;
    Cost reward;
};

// From a time on, U and W of a fragment are larger by these numbers.
struct Step {
    Time time;
    Index fragment;
    Cost seen, entry;
};

struct Fragment {
    Cost entry;       // W before all steps
    Cost leaving;     // what an exit costs
    Cost first, last; // what the first and the last visit of a CPU cost
};

struct Block {
    Time begin, end;
};

// That the CPU holds a fragment at `begin`, or enters it after that and not after `end`.
struct Condition {
    Index fragment;
    Time begin, end;
    std::int64_t count; // how many CPUs have to
};

struct Stretch {
    Rows<Service> services; // by `earliest`
    Rows<Step> steps;       // by time
    Rows<Fragment> fragments;
    Rows<Block> blocks; // of the CPU, in order and disjoint
    Rows<Condition> conditions;
};

struct Path {
    Cost price;
    std::vector<std::int64_t> met; // how often it meets each condition, then runs each service
};

class CheapestPath {
  public:
    // The arrays are those of Stretch.
    CheapestPath(Rows<Service> services, Rows<Step> steps, Rows<Fragment> fragments,
                 Rows<Block> blocks, Rows<Condition> conditions);
    static bool fit(Rows<Service>, Rows<Step>, Rows<Fragment> fragments, Rows<Block>,
                    Rows<Condition>) {
        return !fragments.empty();
    }

    Cost price() const { return path_.price; }
    Integers met() const { return path_.met; }

  private:
    const Path path_;
};

} // namespace dfopt::cpu_path
