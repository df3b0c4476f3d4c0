// A list of the best ways to go on from partial schedules.

#pragma once

#include "partial_schedule.hpp"

#include <algorithm>
#include <vector>

namespace dfopt::beam {

// A partial schedule and a dispatch that comes next; then what is true of both together.
struct Child {
    Index parent, row, cpu;
    Time start;
    Index passed;
    Cost cost;
    std::uint64_t hash; // of how much has been placed of each fragment, and of what CPUs hold
    std::int64_t unlike;
    bool safe;
    Time busy;
    Waits waits;
};

class BestChildren {
  public:
    struct Ranked {
        double key; // what it is worth, the smaller the better
        Child child;
    };

    explicit BestChildren(Index most) : most_(most) { ranked_.reserve(most); }

    void clear() { ranked_.clear(); }

    // The best one first.
    std::span<const Ranked> ranked() const { return ranked_; }

    bool has_room(double key) const {
        return std::ssize(ranked_) < most_ || key < ranked_.back().key;
    }

    // Puts a child into the list, if it is good enough. Of children with the same hash only the
    // best one stays.
    void offer(double key, const Child& child) {
        if (!has_room(key)) return;
        const auto same = find(child.hash);
        if (same != ranked_.end()) {
            if (same->key <= key) return;
            ranked_.erase(same);
        } else if (std::ssize(ranked_) == most_) {
            ranked_.pop_back();
        }
        ranked_.insert(std::ranges::upper_bound(ranked_, key, {}, &Ranked::key), {key, child});
    }

    // Returns whether there is a child with a hash that is safe.
    bool has_safe(std::uint64_t hash) const {
        const auto same = find(hash);
        return same != ranked_.end() && same->child.safe;
    }

  private:
    std::vector<Ranked>::const_iterator find(std::uint64_t hash) const {
        return std::ranges::find(ranked_, hash, [](const Ranked& one) { return one.child.hash; });
    }

    Index most_;
    std::vector<Ranked> ranked_;
};

} // namespace dfopt::beam
