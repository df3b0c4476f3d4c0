// Cost and worth of one fragment's tasks on a CPU: a knapsack over the task classes.
//
// Pricing looks for the content of a CPU that is worth most by the LP's dual values, which is a
// knapsack problem (Gilmore and Gomory 1961). Costs and values add up over fragments, so there are
// two knapsacks: this one inside every fragment, and one across fragments (contents.hpp).

#pragma once

#include "priced_tasks.hpp"

namespace dfopt::pricing {

struct Held {
    Index task_class, count;
};

struct Place {
    Duties done;
    Index row, size;
};

// The most that tasks of an exact size are worth at an exact cost when some of them do some duties.
struct Table {
    Index sets = 1, height = 1, width = 1; // of duties, costs and sizes
    std::vector<Value> values = {0};       // that of nothing comes first

    // Returns the values by size.
    Value* at(Duties done, Index row) { return values.data() + (done * height + row) * width; }

    Value operator[](Place place) const {
        return values[(place.done * height + place.row) * width + place.size];
    }
};

// The tasks of one fragment at some prices. The opener of its block is not among those that a
// table is about; the class of the opener is `none` where no table lacks one.
struct FragmentTasks {
    FragmentTasks(const PricedTasks& all, Index fragment);

    const PricedTasks& all;
    const Fragment& own;
    const FragmentPrice& price;
    const Integers rows;

    // Returns a table of no tasks.
    Table table(Index width) const;

    // Makes `after` what `before` is with tasks of one more class; returns how many steps it took.
    Index add_class(Table& before, Table& after, Index task_class, Index opener) const;

    // Returns the tasks that lead to an entry of the last table. Each table has a class more than
    // the one before.
    std::vector<Held> trace(Rows<Table> tables, Index opener, Place place) const;

  private:
    struct Numbers {
        Index least, most;
    };
    Numbers numbers(Index task_class, Index opener, Duties duties) const;
    Priced priced(Index task_class, Index opener, Duties duties, Index number) const;
    Index step_back(const Table& before, Value value, Index task_class, Index opener,
                    Place& place) const;
};

} // namespace dfopt::pricing
