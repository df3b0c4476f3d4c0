// An instance with releases or precedence: single tasks, and the states in which they leave CPUs.
//
// A *state* of a CPU is what its next switch depends on. Copies of a task are tasks of their own.

#pragma once

#include "../calls.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace dfopt::waiting {

using Index = std::int32_t;

constexpr Index nowhere = -1;

// As in TimedTables of dfopt/solvers/timed.
struct Task {
    Cost exec, release;
    std::int64_t state; // in which it leaves a CPU
    std::int64_t size;
    Cost head, tail; // the earliest time of a switch to it, and the least time after its end
    Cost arrival;    // the least cost of a switch to it
    std::int64_t fragment;
    Cost entry;    // what it pays if it is the first of its fragment
    Cost addition; // what a switch to it costs beside departure and entry
};

struct State {
    Cost finish;         // what a CPU pays that ends in it
    std::int64_t family; // only states of one family can replace each other
    std::int64_t held;   // the fragment that its CPU can enter at no cost, or `nowhere`
    Cost departure;      // what a CPU pays when it goes on
    Cost relief;         // how much of that a CPU is spared that ends here
    Cost gift;           // of a start: by how much less than addition and entry a task may cost
};

// A set of tasks has a bit for each.
using Word = std::uint64_t;
constexpr Index bits = 64;

inline bool contains(Rows<Word> tasks, Index task) { return tasks[task / bits] >> task % bits & 1; }

inline void insert(std::span<Word> tasks, Index task) {
    tasks[task / bits] |= Word{1} << task % bits;
}

inline bool is_within(Rows<Word> some, Rows<Word> others) {
    Word rest = 0;
    for (std::size_t word = 0; word < some.size(); ++word) rest |= some[word] & ~others[word];
    return rest == 0;
}

// A set of tasks for each task.
class TaskSets {
  public:
    explicit TaskSets(std::size_t tasks)
        : words_each_((tasks + bits - 1) / bits), words_(tasks * words_each_) {}

    std::size_t words_each() const { return words_each_; }

    std::span<Word> operator[](Index task) {
        return {words_.data() + task * words_each_, words_each_};
    }
    Rows<Word> operator[](Index task) const {
        return {words_.data() + task * words_each_, words_each_};
    }

  private:
    std::size_t words_each_;
    std::vector<Word> words_;
};

// A task and its CPU.
struct Dispatch {
    std::int64_t cpu, task;
};

// Task sets are the tasks that a task waits for, that wait for it, and that have to be dispatched
// before it: those that it waits for, and its copies with lower numbers.
struct Instance {
    // `switches` has a row for each state and a column for each task, `replaces` says whether a
    // state (row) costs nowhere more than another, `starts` the state of each CPU; `waits` whether
    // a task (row) waits for another, `comes_later` whether another has to be dispatched before it.
    // The sizes of a CPU's tasks add up to at most `room`. All arrays stay where they are.
    Instance(Rows<Task> tasks, Rows<State> states, Integers switches, Flags replaces,
             Integers starts, Flags waits, Flags comes_later, std::int64_t room)
        : tasks(tasks), states(states), switches(switches), replaces(replaces), starts(starts),
          room(room), count(static_cast<Index>(tasks.size())),
          cpus(static_cast<Index>(starts.size())), before(tasks.size()), after(tasks.size()),
          earlier(tasks.size()), predecessors(tasks.size()), latest_first(tasks.size()) {
        std::iota(latest_first.begin(), latest_first.end(), 0);
        std::ranges::sort(latest_first, {},
                          [&](Index task) { return std::pair(-tasks[task].head, task); });
        for (Index task = 0; task < count; ++task) {
            for (Index other = 0; other < count; ++other) {
                const std::size_t pair = task * tasks.size() + other;
                if (comes_later[pair]) insert(earlier[task], other);
                if (!waits[pair]) continue;
                insert(before[task], other);
                insert(after[other], task);
                predecessors[task].push_back(other);
            }
        }
    }
    static bool fit(Rows<Task> tasks, Rows<State> states, Integers switches, Flags replaces,
                    Integers, Flags waits, Flags comes_later, std::int64_t) {
        return switches.size() == states.size() * tasks.size() &&
               replaces.size() == states.size() * states.size() &&
               waits.size() == tasks.size() * tasks.size() && comes_later.size() == waits.size();
    }

    Cost switch_cost(Index state, Index task) const {
        return switches[state * tasks.size() + task];
    }
    bool can_replace(Index state, Index other) const {
        return replaces[state * states.size() + other];
    }

    const Rows<Task> tasks;
    const Rows<State> states;
    const Integers switches;
    const Flags replaces;
    const Integers starts;
    const std::int64_t room;
    const Index count, cpus; // of the tasks, and of the CPUs
    TaskSets before, after, earlier;
    std::vector<std::vector<Index>> predecessors; // `before` once more
    std::vector<Index> latest_first;              // the tasks, those with a late head first
};

} // namespace dfopt::waiting
