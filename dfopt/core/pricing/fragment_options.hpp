// The options of one fragment on a CPU, in each of its roles.
//
// An *option* is a size, a cost and a value that some tasks of the fragment have when the fragment
// plays one role on the CPU. An option is dropped if another one of the same role is no larger,
// costs no more, and is worth as much.

#pragma once

#include "fragment_knapsack.hpp"

#include <optional>

namespace dfopt::pricing {

struct Option {
    Role role;
    Index row, size; // its cost is that of the row in the grid
    Value value;
    Index token;             // which opens its paid block, or `none`
    std::vector<Held> tasks; // empty as long as they have not been looked for
};

// The task that opens a block; or none, where nothing is paid for that.
struct Opener {
    Priced priced;
    Index size, token;
};

// The work of finding all options of a fragment.
//
// The opener is not among the tasks that fill the block. So each class that can open it needs a
// table of all other tasks. The classes are halved again and again, and the tables of one half
// begin with the other half added: k log k additions, where k tables from nothing take k^2.
class OptionSearch {
  public:
    OptionSearch(const PricedTasks& all, Index fragment);

    // Adds the next class to a table, and returns how many steps that took; 0 at the end.
    Index go_on();

    std::vector<Option> options;

  private:
    // Classes that a table lacks, and those that have to be added to it first.
    struct Range {
        Index first, last, level, added, end;
    };
    struct Best {
        Value value;
        Index token;
    };

    bool may_play(Role role) const;
    void take_up(Range range);
    void offer_opened(Index task_class);
    void offer(Role role, Table& table, Duties duties, Opener opener);
    void list(Role role);

    const FragmentTasks tasks_;
    const Index height_, width_;
    std::vector<Best> best_;    // by role, row of the grid, and size
    std::vector<Table> tables_; // by level
    Table spare_, nothing_;
    Range range_;
    std::vector<Range> waiting_;
};

// The options of all fragments at some prices, for all CPUs.
class PricedOptions : public PricedTasks {
  public:
    using PricedTasks::PricedTasks;
    PricedOptions(const PricedOptions&) = delete; // the search refers to the tasks
    PricedOptions& operator=(const PricedOptions&) = delete;

    // Takes over the options of others at the same prices; only fragments that have changed have
    // other ones.
    void take_over(const PricedOptions& known) { options = known.options; }

    // Goes on for some hundredths of a second; returns whether all options are found.
    bool advance();

    std::vector<std::vector<Option>> options; // of each fragment

  private:
    Index next_ = 0; // the fragment whose options are being found
    std::optional<OptionSearch> search_;
};

// The work of finding the tasks that an option stands for, by filling the tables of its fragment
// once more: tables that are kept would take too much memory.
class TaskSearch {
  public:
    TaskSearch(const PricedTasks& all, Index fragment, const Option& option);

    // Adds the next class, and returns how many steps that took; 0 if all have been added.
    Index go_on();

    std::vector<Held> tasks();

  private:
    const FragmentTasks tasks_;
    const Option option_;
    Index opener_ = none;
    std::vector<Table> tables_; // each has one class more
};

} // namespace dfopt::pricing
