// The contents of one CPU that are worth most: the knapsack across fragments.
//
// A content takes at most one option of each fragment. It is dropped if another one is no larger,
// costs no more, and is worth as much.

#pragma once

#include "priced_options.hpp"

namespace dfopt::pricing {

// What a CPU can do with a fragment: whether it is spared the entry if that comes first; and
// whether it need not visit it, and whether it can.
struct CpuFragment {
    Index is_spared, may_miss, may_visit;
};

// Where the CPU starts: what its first visit costs, and what it costs besides unless it is spared.
struct CpuCosts {
    Cost arrival, departure;
};

struct Content {
    Cost cost;           // in the instance's time unit; 0 where costs are priced
    Value value;         // costs included where they are priced
    Index visits, tasks; // how many fragments, and how many classes of tasks
};

// An option that a content takes.
struct Visit {
    Index fragment, option;
};

// A fragment of a content, with the token that pays for its block.
struct PaidVisit {
    Index fragment, token;
};

class Contents {
  public:
    // `worth` is that of the CPU, whatever it holds.
    Contents(PricedOptions& options, std::span<const CpuFragment> fragments, CpuCosts start,
             Value worth);
    ~Contents() { release(); }
    Contents(const Contents&) = delete;
    Contents& operator=(const Contents&) = delete;

    // Goes on filling the tables for some hundredths of a second; returns whether they are full.
    bool fill();

    // Returns the most that is held at a cost of at most `limit`; nothing is worth 0.
    Value largest(Cost limit) const;

    // Chooses the most valuable contents within a limit: at most `most` of them, one of each size,
    // and one of a single fragment.
    void choose(Cost limit, Index most);

    // Goes on finding the tasks of the contents for some hundredths of a second; returns whether
    // all are found.
    bool find_tasks();

    std::span<const Content> chosen() const { return chosen_; }
    std::span<const Visit> visits() const { return visits_; }
    const Option& option(Visit visit) const {
        return options_.options()[visit.fragment][visit.option];
    }

    // Gives the tables back; after that no contents can be chosen any more.
    void release();

  private:
    struct Rows {
        Index begin, end;
    };
    // Rows that an option leads to other rows, all equally far.
    struct Shift {
        Rows rows;
        Index by;
    };
    struct Cell {
        Index ends, size, row;
    };
    // What may be chosen: what an entry of the last table stands for, or an option that is alone.
    struct Candidate {
        Cost cost;
        Value value = 0;
        Cell cell;
        Visit alone;
    };
    struct Ranked {
        Cost cost;
        Value highest; // the most that is held at this cost, or 0
    };

    Value* at(Index fragment, Index ends, Index size) {
        return table_.data() + ((fragment * sets_ + ends) * width_ + size) * height_;
    }
    bool can_play(Index fragment, Role role) const;
    void begin_fragment();
    void find_shifts(const Option& option);
    Index add(const Option& option);
    void drop_dominated(Index ends);
    template <typename Visitor> void visit_candidates(Visitor visit);
    void rank();
    void trace(Cell cell);
    Visit step_back(Index fragment, Cell& cell);

    PricedOptions& options_;
    const Instance& instance_;
    const std::span<const Cost> grid_;
    const std::vector<CpuFragment> fragments_;
    const CpuCosts start_;
    const Value worth_;
    const Index sets_, width_, height_;

    // By fragment, ends, size and row: the most that tasks of this size, of the fragments before,
    // are worth at this cost with these ends of the CPU taken. There are many more costs than
    // sizes, so that loops over the last index are long.
    std::vector<Value> table_;

    Index fragment_ = 0, next_ = 0;    // the fragment that is being added, and its next option
    Index reach_ = 0, next_reach_ = 0; // the largest size before it, and with it
    std::vector<Rows> live_;           // before it: by ends and size, the rows that hold something
    std::vector<Shift> shifts_;        // of the option that is being added

    std::vector<Ranked> ranked_;
    std::vector<Content> chosen_;
    std::vector<Visit> visits_; // of all chosen contents
    Index found_ = 0;           // how many of these have their tasks
    std::optional<TaskSearch> search_;
};

} // namespace dfopt::pricing
