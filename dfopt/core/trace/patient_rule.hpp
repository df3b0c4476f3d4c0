// The patient rule, event by event: an idle CPU goes on with the fragment that it holds, and
// changes to another one only for a dispatch that has waited for as long as the patience is.

#pragma once

#include "../base.hpp"

#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace dfopt::patience {

using Time = std::int64_t;
using Index = std::int64_t;

// Stands for a dispatch, a CPU or a fragment where there is none.
constexpr Index none = -1;

// A time after everything that happens.
constexpr Time never = Time{1} << 62;

// In place of the dispatch of an obstacle that is a block.
constexpr Index block = -1, evicting_block = -2;

struct Dispatch {
    Index fragment;
    Time length;
    Time ready;           // as far as it is known
    std::int64_t missing; // the number of dispatches that it waits for and that have not started
    Time hurry_from;      // from when on it is urgent, or `never`
};

// What starts only after a dispatch, and how long after its start at the earliest.
struct Follower {
    Index dispatch;
    Time lag;
};

// A block, or the place that is reserved for a dispatch.
struct Obstacle {
    Time start, end;
    Index dispatch;
};

struct Recording {
    std::vector<Dispatch> dispatches;
    std::vector<Follower> followers;
    std::vector<Index> first_follower; // of each dispatch, and the end of the last one's
    std::vector<Obstacle> obstacles;   // by CPU and start; the last one of each CPU begins `never`
    std::vector<Index> first_obstacle; // of each CPU
    std::vector<Time> cuts;            // by CPU and time; the last one of each CPU is `never`
    std::vector<Index> first_cut;      // of each CPU
};

// Numbers in circular lists, each of which begins and ends with a number that stands for its end.
class Rings {
  public:
    // At first each of the numbers below `size` is alone.
    explicit Rings(Index size) : after_(size), before_(size) {
        for (Index number = 0; number < size; ++number) after_[number] = before_[number] = number;
    }

    Index after(Index number) const { return after_[number]; }

    void add(Index number, Index end) {
        const Index last = before_[end];
        after_[last] = before_[end] = number;
        before_[number] = last;
        after_[number] = end;
    }

    void remove(Index number) {
        after_[before_[number]] = after_[number];
        before_[after_[number]] = before_[number];
    }

  private:
    std::vector<Index> after_, before_;
};

struct Placement {
    Time start;
    Index cpu = none;
};

class PatientRule {
  public:
    // `fragments` is the number of fragments.
    PatientRule(Recording recording, Index fragments, Time patience);

    // Goes on by this number of events. Returns the number of dispatches that have not started.
    Index run(std::int64_t events);

    // Where each dispatch has started.
    std::span<const Placement> placements() const { return placements_; }

  private:
    struct Cpu {
        Index obstacle, cut;        // the next ones
        Time free_at = -never;      // until when it is taken
        Time used_at = -never;      // when its last dispatch ended
        Index held = none;          // its fragment
        Time usable_until = -never; // until when a dispatch may run that starts now, or -`never`
        // No dispatch before `untried` in the common queue can end by `tried_until`.
        Index untried;
        Time tried_until = never;
    };

    struct Choice {
        Index dispatch = none, cpu = none;
    };

    // A time and a dispatch; the earliest one comes first.
    using Due = std::pair<Time, Index>;
    using DueQueue = std::priority_queue<Due, std::vector<Due>, std::greater<>>;

    void let_wait();
    Choice at_its_place();
    Choice urgent(Time usable);
    Choice by_rule();
    Choice by_affinity() const;
    Index cpu_for(Index dispatch) const;
    Index first_fitting(Time ready_by);
    void start(Choice choice);
    bool lapse();
    Time next_event();
    void move_marks(Index dispatch, Index following);

    Index end() const { return std::ssize(recording_.dispatches); }

    Recording recording_;
    const Time patience_;
    Time now_ = -never;
    Index unstarted_;
    std::vector<Cpu> cpus_;
    std::vector<Placement> placements_;

    // The dispatches that wait. In both kinds of queues the one that has waited longest is first.
    Rings own_;    // one queue for each fragment; their ends are the numbers after all dispatches
    Rings common_; // one queue for all; its end is the number after all dispatches
    std::vector<char> is_queued_;
    std::int64_t queued_ = 0;        // the number of dispatches that have begun to wait
    std::vector<std::int64_t> turn_; // and what it was when each of them did; `never` for the end
    Index not_due_; // the first of the common queue with which the patience has not ended

    DueQueue to_come_;          // the dispatches whose ready time is known, and still to come
    DueQueue urgent_;           // the ready ones that are urgent or get so,
    std::vector<Due> unfit_;    // those of them that fit nowhere now,
    std::vector<Due> too_long_; // and those that cannot end by `too_long_until_`, so that they fit
    Time too_long_until_ = -never; // nowhere before a CPU is usable for longer
    Time next_urgent_ = never;     // when the next one gets urgent
};

} // namespace dfopt::patience
