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
};

// Partial schedules with equally many tasks.
class Layer {
  public:
    // A layer that is empty, with room for this number of rows.
    Layer(const Instance& instance, std::size_t rows)
        : words_(instance.before.words_each()), width_(instance.cpus) {
        done_.reserve(rows * words_);
        cpus_.reserve(rows * width_);
        figures_.reserve(rows);
    }

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

} // namespace dfopt::waiting
