// A stretch of a schedule of a trace: which elements each CPU runs, and when.
//
// An *element* is a dispatch of the stretch, or something that keeps its time: a block that evicts,
// a cut, a dispatch outside the stretch on which one inside depends, and the two ends of each CPU.
// The elements of a CPU are linked in the order in which they run. Every dispatch starts as early
// as everything before it permits. Blocks that do not evict are no elements: they stand in a
// calendar, and a dispatch starts where it fits between them.

#pragma once

#include "../base.hpp"

#include <vector>

namespace dfopt::stretch {

using Time = std::int64_t;
using Index = std::int64_t;

// Stands for an element where there is none.
constexpr Index nobody = -1;

// A dispatch that may move; an element that keeps its time; a cut; the two ends of a CPU.
enum class Role : std::int64_t { moves, stays, cut, head, tail };

// Python makes these rows, see dfopt/native/stretch.py.
struct Element {
    Time length;
    Time ready;           // when it may start, as far as elements outside the stretch say
    Time since;           // when its wait begins, likewise
    Time latest;          // its latest start
    Index previous, next; // of the same task
    Index waker;
    Time offset;          // how long after its waker's start it is woken
    Index woken, sibling; // the first element that it wakes; the next one that its waker wakes
    std::int64_t fragment;
    Cost entry, exit, always, first, last; // as in Dispatches of dfopt/compare
    Role role;
    Index rank; // its place among the dispatches by fragment

    // What the search changes.
    std::int64_t cpu;
    Time start, end;
    Time late;           // by how much it should start earlier
    Index before, after; // on its CPU
};

struct Block {
    Time start, end;
};

// The blocks of all CPUs, each CPU's end with one that never comes; and for each CPU and each cell
// of the calendar the first block that ends after the cell has begun.
struct Calendar {
    std::vector<Block> blocks;
    std::vector<Index> first; // by CPU and cell
    Time begin, width;        // when the first cell begins; the length of a cell
    Index cells;

    // Returns the earliest start from `time` on that keeps clear of the blocks of a CPU.
    Time earliest_fit(std::int64_t cpu, Time time, Time length) const;
};

// Limits for all waits of a schedule, inside and outside the stretch.
struct Bounds {
    Time total; // the largest sum of waits
    Time each;  // a wait above this is long
    std::int64_t most_long;
};

// Some elements in any order, each of which knows its place.
class ElementSet {
  public:
    explicit ElementSet(std::size_t elements) : place_(elements, nobody) {}

    Index size() const { return std::ssize(members_); }
    Index operator[](Index place) const { return members_[place]; }

    void set(Index element, bool belongs) {
        Index& place = place_[element];
        if (belongs && place == nobody) {
            place = size();
            members_.push_back(element);
        } else if (!belongs && place != nobody) {
            members_[place] = members_.back();
            place_[members_.back()] = place;
            members_.pop_back();
            place_[element] = nobody;
        }
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
    explicit Queue(std::size_t elements) : is_queued_(elements, false) {}

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
    Cost cost = 0;               // of all meetings in the stretch
    Time lateness = 0;           // of all elements
    Time waits = 0;              // the sum of all waits
    std::int64_t long_waits = 0; // how many are long
};

// What stays while the order changes.
struct Surroundings {
    Index dispatches;
    Calendar calendar;
    std::vector<Cost> matrix; // costs between fragments, row by row; or empty
    Index fragments;          // the width of the matrix
    Bounds bounds;
};

class Stretch {
  public:
    // The elements begin with the dispatches, in the order of their recorded starts. What surrounds
    // them must live as long as the stretch and its copies.
    Stretch(const Surroundings& around, std::vector<Element> elements, Totals totals);

    Index dispatches() const { return around_->dispatches; }
    Index size() const { return std::ssize(elements_); }
    const Element& operator[](Index element) const { return elements_[element]; }
    const Totals& totals() const { return totals_; }
    const Bounds& bounds() const { return around_->bounds; }
    const ElementSet& late() const { return late_; }
    const ElementSet& openers() const { return openers_; } // the first dispatches of visits
    Index by_rank(Index rank) const { return ranked_[rank]; }

    // Returns what it costs if element `right` follows `left` on a CPU.
    Cost meeting_cost(Index left, Index right) const;

    // Starts every dispatch as early as the order permits. Returns whether that was possible.
    bool settle();

    // Links two elements, so that `right` follows `left`.
    void link(Index left, Index right);

    // Lets a segment run on a CPU behind an element, and queues it.
    void put_on(Index begin, Index end, Index behind, std::int64_t cpu);

    // Gives the dispatches of a segment back the CPU on which they were.
    void take_back(Index begin, Index end, std::int64_t cpu);

    void queue_after(Index element, Time time);

    // Works out all starts that a change touches. Returns whether all are permitted: in sum no
    // later than `most_late`.
    bool propagate(double most_late);

    // Gives all elements the starts back that they had before the last propagation.
    void restore(const Totals& totals);

    // Notes whether a dispatch is the first one of a visit.
    void note_opening(Index element);

    void add_cost(Cost rise) { totals_.cost += rise; }

  private:
    struct Change { // of an element's times: what they were before
        Index element;
        Time start, end, late;
    };

    Time wait_of(Index element) const;
    void count_waits(Index element, std::int64_t sign);
    void change_times(Index element, Time start, Time end, Time late);
    void update(Index element);
    void update_dispatch(Index element, Time time);

    const Surroundings* around_;
    std::vector<Element> elements_;
    std::vector<Index> ranked_; // the dispatches by fragment
    Totals totals_;
    ElementSet late_, openers_;
    Queue queue_;
    std::vector<Change> log_;
};

} // namespace dfopt::stretch
