// What it is worth to go on from a partial schedule with one dispatch or another.

#pragma once

#include "best_children.hpp"
#include "candidates.hpp"
#include "stock.hpp"

#include <optional>
#include <vector>

namespace dfopt::beam {

// What a beam search keeps and prefers.
struct Settings {
    Index width;       // the number of partial schedules that are kept,
    Index safe;        // and of safe ones beside them
    Index ahead;       // the number of dispatches that are not ready yet and may be waited for
    Index urgent;      // the number of urgent ones that are tried
    double waiting;    // what it counts that a fragment waits which no CPU holds,
    double late;       // that a dispatch will be late,
    double idle;       // a unit of idle time,
    double wait_price; // a unit of waiting,
    double long_price; // and a long wait
    double patience;   // a fragment that may still wait for this time counts half
};

class Children {
  public:
    Children(const Section& section, const Settings& settings);

    // The best ones of all partial schedules since `clear`.
    const BestChildren& best() const { return best_; }

    // The best ones of those that can be gone on with as the guide does.
    const BestChildren& safest() const { return safest_; }

    void clear();

    // Puts the children of a partial schedule into the lists.
    void add(Index parent, PartialSchedule& partial);

    const Stock& stock() const { return stock_; }

  private:
    // What comes next in the guide on a CPU.
    struct Guide {
        Index row = none;
        Time first = far, second = far; // its start, and that of the one after it
    };

    void note_held(const PartialSchedule& partial);
    void note_waiting(Time now);
    void follow_guide(PartialSchedule& partial);
    void consider(Index parent, const PartialSchedule& partial, Index row, Index cpu);

    Time waited(Time time) const;
    double price_of(const Waits& waits, Time more) const;
    Time soon_free(const PartialSchedule& partial);
    double least_paid(const PartialSchedule& partial) const;
    bool is_ahead_beside(const PartialSchedule& partial, Index cpu) const;
    bool has_room(double key) const;
    double price(Index fragment, Time time) const;
    bool is_held_beside(Index fragment, Index cpu) const;
    double held_price(Index fragment, Index cpu) const;
    double waiting_price(Index placed, Index cpu, Time then) const;
    bool is_ahead_of_guide(Index row) const;
    std::uint64_t hash_of(const PartialSchedule& partial, Index row, Index cpu) const;
    std::int64_t changed_unlike(const PartialSchedule& partial, Index row, Time start,
                                Time ready) const;
    std::optional<int> number_late(const PartialSchedule& partial, const Child& child);

    Index cpus() const { return std::ssize(section_.cpus); }

    const Section& section_;
    const Settings settings_;
    BestChildren best_, safest_;

    const Stock stock_;

    // Of the partial schedule that is gone on with.
    Candidates candidates_;
    std::vector<Guide> guide_;    // of each CPU
    std::vector<Index> on_;       // the fragment that each CPU holds, or below 0
    std::vector<Index> holders_;  // the number of CPUs that hold each fragment
    std::vector<Index> held_;     // the fragments that some CPU holds
    std::vector<double> waiting_; // what each fragment counts that waits at the latest start so far
    std::vector<double> beside_;  // what those count together that a CPU does not hold, but others
    double all_waiting_ = 0;

    // Of the child that is looked at.
    bool may_be_safe_ = false;
    double not_held_ = 0;    // what the fragments count that wait now and that no CPU holds then
    std::vector<Time> free_; // when CPUs are free
    std::vector<Index> passed_;
};

} // namespace dfopt::beam
