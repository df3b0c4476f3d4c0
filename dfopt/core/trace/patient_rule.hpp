// The patient rule, event by event: an idle CPU goes on with the fragment that it holds, and
// changes to another one only for a dispatch that has waited for as long as the patience is.

#pragma once

#include "dispatch.hpp"

#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace dfopt::patience {

// What has been recorded.
struct Recording {
    std::span<const Dispatch> dispatches; // those that may move, then what is fixed
    std::span<const Index> taken;         // which of them keep their places, by CPU and start
    std::span<const Cut> cuts;            // by CPU and time
    std::span<const Time> hurry_from; // from when on each that may move is urgent, or `never`; one
                                      // of them keeps its place as long as it does not run earlier
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

class PatientRule {
  public:
    // `cpus` is the number of CPUs. What the recording refers to must live as long as the rule.
    PatientRule(const Recording& recording, Index cpus, Time patience);

    // Goes on by this number of events. Returns the number of dispatches that have not started.
    Index run(std::int64_t events);

    // Where each dispatch has started.
    std::span<const Placement> placements() const { return placements_; }

  private:
    struct Cpu {
        Index taken, taken_end;     // which places are taken from now on
        Index cut, cut_end;         // the cuts to come
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

    Index fragments() const;
    void let_wait();
    Time next_taken(const Cpu& cpu) const;
    Choice at_its_place();
    Choice urgent(Time usable);
    Choice by_rule();
    Choice by_affinity() const;
    Index cpu_for(Index dispatch) const;
    Index first_fitting(Time ready_by);
    void start(Choice choice);
    void release(Index dispatch, Time time);
    bool lapse();
    Time next_event();
    void move_marks(Index dispatch, Index following);

    Index end() const { return std::ssize(recording_.hurry_from); }

    const Recording recording_;
    const Time patience_;
    Time now_ = -never;
    Index unstarted_;
    std::vector<Cpu> cpus_;
    std::vector<Placement> placements_;
    std::vector<Time> ready_; // when each dispatch is ready, as far as it is known
    std::vector<int>
        missing_; // the number of dispatches that each waits for and that have not started
    std::vector<Index> next_;    // the next dispatch of its task,
    std::vector<Index> woken_;   // the first one that it wakes,
    std::vector<Index> sibling_; // and the next one that its waker wakes

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
