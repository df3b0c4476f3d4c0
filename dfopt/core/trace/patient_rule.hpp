// The patient rule, event by event: an idle CPU goes on with the fragment that it holds, and
// changes to another one only for a dispatch that has waited for as long as the patience is.

#pragma once

#include "dispatch.hpp"

#include <functional>
#include <map>
#include <queue>
#include <set>
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

// The dispatches that wait; the one that has waited longest is first.
using Queue = std::map<std::int64_t, Index>;

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
    };

    struct Choice {
        Index dispatch = none, cpu = none;
    };

    // A time and a dispatch; the earliest one comes first.
    using Due = std::pair<Time, Index>;

    std::size_t fragments() const;
    void let_wait();
    Time next_taken(const Cpu& cpu) const;
    Choice at_its_place();
    Choice urgent(Time usable) const;
    Choice by_rule();
    Choice by_affinity() const;
    Index cpu_for(Index dispatch) const;
    void start(Choice choice);
    void release(Index dispatch, Time time);
    bool lapse();
    Time next_event() const;

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
    const Followers followers_;

    std::int64_t turns_ = 0;         // the number of dispatches that have begun to wait
    std::vector<std::int64_t> turn_; // what it was when each of them did; 0 if it does not wait
    std::vector<Queue> own_;         // those that wait for each fragment, by their turns
    Queue common_;                   // all of them

    // The dispatches whose ready time is known, and still to come.
    std::priority_queue<Due, std::vector<Due>, std::greater<>> to_come_;
    std::set<Due> urgent_; // those that wait and are urgent or get so
};

} // namespace dfopt::patience
