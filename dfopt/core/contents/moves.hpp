// Random moves: two CPUs exchange some of their tasks.
//
// A move begins with a random part of a random CPU, or of a CPU above the target. Single tasks are
// exchanged, or some tasks of two parts, or a whole part moves and others come back.

#pragma once

#include "contents.hpp"

namespace dfopt::contents {

// The CPUs that cost more than a target, in any order.
class AboveTarget {
  public:
    explicit AboveTarget(std::size_t cpus) : place_(cpus, nowhere) {}

    bool empty() const { return cpus_.empty(); }
    Rows<Index> cpus() const { return cpus_; }

    void clear() {
        for (const Index cpu : cpus_) place_[cpu] = nowhere;
        cpus_.clear();
    }

    void add(Index cpu) {
        place_[cpu] = static_cast<Index>(cpus_.size());
        cpus_.push_back(cpu);
    }

    void update(Index cpu, bool is_above) {
        if (place_[cpu] == nowhere) {
            if (is_above) add(cpu);
        } else if (!is_above) {
            // The last CPU of the list takes its place.
            cpus_[place_[cpu]] = cpus_.back();
            place_[cpus_.back()] = place_[cpu];
            cpus_.pop_back();
            place_[cpu] = nowhere;
        }
    }

  private:
    std::vector<Index> cpus_;
    std::vector<Index> place_; // of each CPU, or `nowhere`
};

// The first CPU gains what the move counts, the second one loses it.
struct Pair {
    Index cpu, other;
};

class Moves {
  public:
    Moves(const Instance& instance, const Contents& contents, const AboveTarget& above,
          Random random)
        : random(random), instance_(instance), contents_(contents), above_(above) {}

    // Makes up a random move and returns its CPUs. There may be nothing in it.
    Pair propose();

    Move move; // the current one
    Random random;

  private:
    Index first_cpu();
    void exchange(Index cpu, Index part, Index other, double way);
    void exchange_sizes(Index cpu, Index part, Index other, double way);
    void pick(Index cpu, Index part, std::int64_t tasks, Side side);
    void net();
    std::int64_t size() const;
    bool may_lose(Index cpu) const;
    std::int64_t room(Index cpu) const { return instance_.room - contents_[cpu].load; }

    const Instance& instance_;
    const Contents& contents_;
    const AboveTarget& above_;
};

} // namespace dfopt::contents
