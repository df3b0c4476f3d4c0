// A schedule of a trace that is being changed: what each CPU runs in which order, and when.
//
// An *element* is a dispatch that may move, or something that keeps its time: a block that evicts,
// a cut, and the two ends of each CPU. The elements of a CPU are linked in the order in which they
// run. Every dispatch starts as early as everything before it permits. Blocks also stand in a
// calendar, and a dispatch starts where it fits between them.

#pragma once

#include "../trace/dispatch.hpp"

#include <utility>
#include <vector>

namespace dfopt::annealing {

// A dispatch that may move; a block that evicts; a cut; the two ends of a CPU.
enum class Role : std::int64_t { moves, block, cut, head, tail };

// A dispatch, of which the search changes `cpu` and `start`.
struct Element : Dispatch {
    Role role;
    Time latest = never;  // its latest start
    Index next = none;    // of its task
    Index woken = none;   // the first element that it wakes
    Index sibling = none; // the next one that its waker wakes
    Index rank = none;    // its place among the dispatches by fragment
    Time end = 0;
    Index before = none, after = none; // on its CPU
};

struct Block {
    Time start, end;
};

// The blocks of all CPUs, each CPU's end with one that never comes; and for each CPU and each cell
// of the calendar the first block that ends after the cell has begun.
class Calendar {
  public:
    explicit Calendar(const TraceRows& trace);

    // Returns the earliest start from `time` on that keeps clear of the blocks of a CPU.
    Time earliest_fit(Index cpu, Time time, Time length) const;

  private:
    std::vector<Block> blocks_;
    std::vector<Index> first_; // by CPU and cell
    Time begin_, width_ = 1;   // when the first cell begins; the length of a cell
    Index cells_ = 1;
};

// Limits for all waits.
struct Bounds {
    Time total; // the largest sum of waits
    Time each;  // a wait above this is long
    std::int64_t most_long;
};

// Some elements in any order, each of which knows its place.
class ElementSet {
  public:
    explicit ElementSet(std::size_t elements = 0) : place_(elements, none) {}

    Index size() const { return std::ssize(members_); }
    Index operator[](Index place) const { return members_[place]; }

    void set(Index element, bool belongs) {
        Index& place = place_[element];
        if (belongs && place == none) {
            place = size();
            members_.push_back(element);
        } else if (!belongs && place != none) {
            members_[place] = members_.back();
            place_[members_.back()] = place;
            members_.pop_back();
            place_[element] = none;
        }
    }

    void clear() {
        while (size() > 0) set(members_.back(), false);
    }

  private:
    std::vector<Index> members_;
    std::vector<Index> place_;
};

// The elements whose starts have to be worked out anew, the one with the smallest key first. Keys
// should be about as large as the starts, so that an element is worked out once, after what comes
// before it.
class Queue {
  public:
    explicit Queue(std::size_t elements = 0) : is_queued_(elements, false) {}

    bool empty() const { return heap_.empty(); }
    void add(Index element, Time key);
    Index pop();
    void clear();

  private:
    struct Entry {
        Index element;
        Time key;
    };
    std::vector<Entry> heap_;
    std::vector<bool> is_queued_;
};

// What changes together with the order, and is taken back with it.
struct Totals {
    Cost cost = 0;               // of all switches
    Time waits = 0;              // the sum of all waits
    std::int64_t long_waits = 0; // how many are long
};

class TimedOrders {
  public:
    // The elements begin with the dispatches, in the order of their recorded starts. What the trace
    // refers to must live as long as the schedule.
    TimedOrders(const TraceRows& trace, const Bounds& bounds);

    Index dispatches() const { return trace_.size(); }
    Index size() const { return std::ssize(elements_); }
    const Element& operator[](Index element) const { return elements_[element]; }
    const Totals& totals() const { return totals_; }
    const ElementSet& openers() const { return openers_; } // the first dispatches of visits
    Index by_rank(Index rank) const { return ranked_[rank]; }

    // Returns what it costs if element `right` follows `left` on a CPU.
    Cost meeting_cost(Index left, Index right) const;

    // Starts every dispatch as early as the order permits. Returns whether that is within all
    // limits.
    bool settle();

    // Links two elements, so that `right` follows `left`.
    void link(Index left, Index right);

    // Lets a segment run on a CPU behind an element, and queues it.
    void put_on(Index begin, Index end, Index behind, Index cpu);

    // Gives the dispatches of a segment back the CPU on which they were.
    void take_back(Index begin, Index end, Index cpu);

    void queue_after(Index element, Time time);

    // Works out all starts that a change touches, unless they are too many: if elements wait for
    // each other in a circle, their starts would grow for ever. Returns whether all are worked out
    // and within all limits.
    bool propagate(Index most_updates);

    // Gives all elements the starts back that they had before the last propagation.
    void restore(const Totals& totals);

    // Notes which of the dispatches `low` … `high` - 1 are the first ones of visits, from now on.
    void watch(Index low, Index high);

    Index low() const { return low_; }
    Index high() const { return high_; }

    // Notes whether a dispatch is the first one of a visit, if it is one of those.
    void note_opening(Index element);

    // Keeps the schedule as it is; `go_back` returns to it.
    void keep();
    void go_back();
    const Totals& kept_totals() const { return kept_totals_; }

    void add_cost(Cost rise) { totals_.cost += rise; }

  private:
    struct Change { // of an element's times: what they were before
        Index element;
        Time start, end;
    };

    void arrange();
    Element& changed(Index element);
    Time wait_of(Index element) const;
    void count_waits(Index element, std::int64_t sign);
    void change_times(Index element, Time start, Time end);
    bool update(Index element);
    bool update_cut(Index element);
    bool update_dispatch(Index element, Time time);

    const TraceRows trace_;
    const Bounds bounds_;
    const Calendar calendar_;
    std::vector<Element> elements_;
    std::vector<Index> ranked_; // the dispatches by fragment
    Totals totals_;
    ElementSet openers_;
    Index low_ = 0, high_ = 0; // of which dispatches it is noted whether they open visits
    Queue queue_;
    std::vector<Change> log_;

    // What has changed since a schedule was kept, as it was then.
    std::vector<std::pair<Index, Element>> kept_;
    std::vector<std::int64_t> kept_in_; // for each element, in which period it was kept last
    std::int64_t period_ = 0;
    Totals kept_totals_;
};

} // namespace dfopt::annealing
