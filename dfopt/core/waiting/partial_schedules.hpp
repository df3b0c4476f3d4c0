// Partial schedules in layers: all with k tasks, then those with k + 1.
//
// Tasks are dispatched in the order in which the switches to them begin. So a partial schedule is a
// set of tasks, and for each CPU its state, the size of its tasks and when it is free; the ends of
// all other tasks are past. One of two that agree in the sets is superfluous if it is nowhere
// earlier.

#pragma once

#include "instance.hpp"

namespace dfopt::waiting {

// A CPU of a partial schedule.
struct Cpu {
    Index number; // CPUs are sorted, so that this is not its place
    Index state;
    Index awaited; // its last task if others wait for it, or `nowhere`
    Index group;   // only CPUs of one group can replace each other
    std::int64_t load;
    Cost clock; // when it is free
};

// How a partial schedule came about.
struct Step {
    Index parent;    // its place in the layer before
    Index task, cpu; // what was dispatched, and where
};

struct Figures {
    Cost floor; // no further switch begins earlier
    Cost guide; // rows with little of it are kept where there are too many
    Step step;
    Index following; // the next row of the layer with the same hash, or `nowhere`
};

// A partial schedule that lies in a layer.
struct Row {
    std::span<Word> done; // the set of tasks that are dispatched
    std::span<Cpu> cpus;
    Figures& figures;

    bool is_full(Index cpu, const Instance& instance) const {
        return cpus[cpu].load == instance.room;
    }
};

// Partial schedules with equally many tasks.
class Layer {
  public:
    // A layer that is empty, with room for this number of rows.
    Layer(const Instance& instance, std::size_t rows);

    Index rows() const { return static_cast<Index>(figures_.size()); }
    Row operator[](Index row) {
        return {{done_.data() + row * words_, words_},
                {cpus_.data() + row * width_, width_},
                figures_[row]};
    }

    // Makes a row, for the caller to fill.
    Row append() {
        resize(figures_.size() + 1);
        return (*this)[rows() - 1];
    }
    void resize(std::size_t rows) {
        done_.resize(rows * words_);
        cpus_.resize(rows * width_);
        figures_.resize(rows);
    }

  private:
    std::size_t words_, width_; // of a row
    std::vector<Word> done_;
    std::vector<Cpu> cpus_;
    std::vector<Figures> figures_;
};

// Copies all but the place in a list of equal hashes.
void copy(const Row& from, const Row& to);

// Writes the partial schedule without tasks.
void write_root(const Instance& instance, const Row& row);

// Returns whether a task is not dispatched, and all are that come before it.
inline bool can_start(const Instance& instance, const Row& row, Index task) {
    return !contains(row.done, task) && is_within(instance.earlier[task], row.done);
}

// Writes what comes of dispatching a task. Returns false if that is superfluous.
bool dispatch(const Instance& instance, const Row& from, Index task, Index cpu, const Row& to);

// Raises the floor to the earliest time at which any task can start.
void raise_floor(const Instance& instance, const Row& row);

// Forgets times that do not matter any more, and sorts the CPUs. Nothing that comes of the row ends
// before `bound`.
void settle(const Instance& instance, const Row& row, Cost bound);

// Returns a number that is equal for rows of which one may replace the other.
std::uint64_t hash_of(const Row& row);

// Returns whether two rows have the same sets, and CPUs of the same groups.
bool agree(const Row& one, const Row& other);

// Returns whether a row makes another one superfluous that agrees with it.
bool is_no_later(const Instance& instance, const Row& one, const Row& other);

} // namespace dfopt::waiting
