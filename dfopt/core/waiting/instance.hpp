// An instance with releases or precedence: single tasks, and the states in which they leave CPUs.
//
// A *state* of a CPU is what its next switch depends on. Copies of a task are tasks of their own.

#pragma once

#include "../base.hpp"

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

inline bool contains(std::span<const Word> tasks, Index task) {
    return tasks[task / bits] >> task % bits & 1;
}

inline void insert(std::span<Word> tasks, Index task) {
    tasks[task / bits] |= Word{1} << task % bits;
}

inline bool is_within(std::span<const Word> some, std::span<const Word> others) {
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
    std::span<const Word> operator[](Index task) const {
        return {words_.data() + task * words_each_, words_each_};
    }

  private:
    std::size_t words_each_;
    std::vector<Word> words_;
};

// What Python hands over. These arrays are large, so they stay where they are.
struct Tables {
    std::span<const Task> tasks;
    std::span<const State> states;
    std::span<const Cost> switches;       // row = state, column = task
    std::span<const bool> replaces;       // whether a state (row) costs nowhere more than another
    std::span<const std::int64_t> starts; // of each CPU its state
    std::span<const bool> before;         // whether a task (row) waits for another
    std::span<const bool> earlier;        // whether another has to be dispatched before a task
    std::int64_t room;                    // the sizes of a CPU's tasks add up to at most this
};

class Instance {
  public:
    explicit Instance(const Tables& tables);

    Index tasks() const { return static_cast<Index>(tables_.tasks.size()); }
    Index cpus() const { return static_cast<Index>(tables_.starts.size()); }
    Index states() const { return static_cast<Index>(tables_.states.size()); }
    std::int64_t room() const { return tables_.room; }
    std::size_t words() const { return before_.words_each(); } // of a set of tasks
    const Task& task(Index task) const { return tables_.tasks[task]; }
    const State& state(Index state) const { return tables_.states[state]; }
    Index start(Index cpu) const { return static_cast<Index>(tables_.starts[cpu]); }

    Cost switch_cost(Index state, Index task) const {
        return tables_.switches[state * tables_.tasks.size() + task];
    }
    bool can_replace(Index state, Index other) const {
        return tables_.replaces[state * tables_.states.size() + other];
    }

    // The sets of tasks that a task waits for, that wait for it, and that have to be dispatched
    // before it: those that it waits for, and its copies with lower numbers.
    std::span<const Word> before(Index task) const { return before_[task]; }
    std::span<const Word> after(Index task) const { return after_[task]; }
    std::span<const Word> earlier(Index task) const { return earlier_[task]; }

    // The tasks that a task waits for, once more as a list.
    std::span<const Index> predecessors(Index task) const {
        return {predecessors_.data() + first_[task], predecessors_.data() + first_[task + 1]};
    }

    std::span<const Index> latest_first() const { return latest_first_; }
    std::span<const Index> longest_tail_first() const { return longest_tail_first_; }

  private:
    const Tables tables_;
    TaskSets before_, after_, earlier_;
    std::vector<Index> predecessors_;
    std::vector<std::size_t> first_; // where the predecessors of each task begin
    std::vector<Index> latest_first_, longest_tail_first_;
};

} // namespace dfopt::waiting
