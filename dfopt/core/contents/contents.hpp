// An instance under f or g, and what its CPUs hold.
//
// Types of tasks are numbered fragment by fragment, and in a fragment by their entry costs. So what
// a CPU holds of one fragment, a *part*, stands together among its types, cheapest opener first.

#pragma once

#include "../calls.hpp"

#include <vector>

namespace dfopt::contents {

using Index = std::int32_t;

constexpr Index nowhere = -1;

// As in BlockCosts of dfopt/costs; then the size of a task.
struct TaskType {
    std::int64_t fragment;
    Cost base, entry, exit, end;
    std::int64_t size;
};

// As in CpuStart of dfopt/costs: the fragment whose first visit is free, or one of the two numbers
// below; what the first and the last visit cost besides; and what a CPU costs that runs nothing.
struct CpuStart {
    std::int64_t free;
    Cost arrival, departure, idle;
};
constexpr std::int64_t none_is_free = -1, all_are_free = -2;

struct Instance {
    Rows<TaskType> types;
    Rows<CpuStart> starts; // of each CPU
    std::int64_t fragments;
    std::int64_t room; // the largest size that a CPU may hold
    bool has_sizes; // whether some tasks are larger than others; if not, only their number counts
    bool adds_up;   // whether the objective is the sum of the CPUs' costs, not the largest one
};

struct Held {
    Index type, count;
};

// What a part costs in the middle of a CPU, and what another role adds to that.
struct RoleCosts {
    Cost middle, first, last, split, alone;
};

struct Part {
    Index fragment;
    Index begin; // where its types begin on its CPU
    Index size;  // the number of its tasks
    RoleCosts costs;
};

struct Cpu {
    std::vector<Held> types; // by number
    std::vector<Part> parts; // by fragment
    std::int64_t load = 0;
    Cost cost = 0;

    Rows<Held> types_of(std::size_t part) const {
        const std::size_t begin = parts[part].begin;
        const std::size_t end = part + 1 < parts.size() ? parts[part + 1].begin : types.size();
        return {types.data() + begin, end - begin};
    }
};

// By how many tasks of each type one CPU grows and another one shrinks, sorted by type.
using Move = std::vector<Held>;

// The two ends of a move: one CPU gains what the other one loses.
enum class Side : Index { gains = 1, loses = -1 };

// A part as a move would leave it, and its place among the parts of its CPU, or `nowhere`.
struct TouchedPart {
    Part part;
    Index place;
};

// A CPU as a move would leave it.
struct After {
    std::vector<TouchedPart> parts;
    Cost cost;
};

class Contents {
  public:
    explicit Contents(const Instance& instance);

    Index cpus() const { return static_cast<Index>(cpus_.size()); }
    const Cpu& operator[](Index cpu) const { return cpus_[cpu]; }

    // Returns the CPUs that hold a fragment, in any order.
    Rows<Index> holders(Index fragment) const { return holders_[fragment]; }

    // Works out what a CPU would cost after a move; see evaluate.cpp.
    void evaluate(const Move& move, Index cpu, Side side, After& after) const;

    // Makes a move on a CPU, which `evaluate` has worked out.
    void make(const Move& move, Index cpu, Side side, const After& after);

  private:
    Cost cost_with_best_ends(Index cpu, Rows<TouchedPart> touched) const;
    void replace_parts(Index cpu, Rows<TouchedPart> touched);
    void replace_types(const Move& move, Index cpu, Side side);

    const Instance& instance_;
    std::vector<Cpu> cpus_;
    std::vector<std::vector<Index>> holders_; // of each fragment
    std::vector<Held> merged_;                // the types of a CPU while they are replaced
};

// Visits every type that a CPU holds or that a move changes, with its number of tasks after the
// move, and by how much that number changes. Both lists are sorted by type.
template <typename Visit>
void visit_merged(Rows<Held> held, Rows<Held> moved, Side side, Visit visit) {
    const Held *old = held.data(), *behind_old = old + held.size();
    const Held *change = moved.data(), *behind = change + moved.size();
    while (old != behind_old || change != behind) {
        Index type = 0, count = 0, growth = 0;
        if (old != behind_old && (change == behind || old->type <= change->type)) {
            type = old->type;
            count = old->count;
            ++old;
        } else {
            type = change->type;
        }
        if (change != behind && change->type == type) {
            growth = static_cast<Index>(side) * change->count;
            ++change;
        }
        visit(type, count + growth, growth);
    }
}

} // namespace dfopt::contents
