// The contents of one CPU that are worth most: the knapsack across fragments.
//
// A content takes at most one option of each fragment. It is dropped if another one is no larger,
// costs no more, and is worth as much.

#pragma once

#include "fragment_options.hpp"

namespace dfopt::pricing {

// What a CPU can do with a fragment: whether it is spared the entry if that comes first; and
// whether it need not visit it, and whether it can.
struct CpuFragment {
    Index is_spared, may_miss, may_visit;
};

struct Content {
    Cost cost;    // in the instance's time unit; 0 where costs are priced
    Value value;  // costs included where they are priced
    Index visits; // how many fragments
};

// An option that a content takes.
struct Visit {
    Index fragment, option;
};

// A fragment of a content, with the token that pays for its block, or `none`; and of how many
// classes it has tasks.
struct PaidVisit {
    Index fragment, token, classes;
};

class Contents {
  public:
    // The first visit of the CPU costs `arrival`, and `departure` besides unless it is spared.
    // `worth` is that of the CPU, whatever it holds.
    Contents(PricedOptions& options, Rows<CpuFragment> fragments, Cost arrival, Cost departure,
             Value worth)
        : options_(options), instance_(options.instance), grid_(instance_.grid),
          fragments_(fragments), arrival_(arrival), departure_(departure), worth_(worth),
          sets_(instance_.duties + 1), width_(instance_.capacity + 1), height_(std::ssize(grid_)),
          live_(sets_ * width_) {
        if (!instance_.spare.empty()) {
            table_ = std::move(instance_.spare.back());
            instance_.spare.pop_back();
        }
        table_.resize((std::ssize(fragments_) + 1) * sets_ * width_ * height_);
        std::fill_n(at(0, 0, 0), sets_ * width_ * height_, never);
        *at(0, 0, 0) = 0;
        live_[0] = {0, 1};
    }
    static bool fit(PricedOptions& options, Rows<CpuFragment> fragments, Cost, Cost, Value) {
        return fragments.size() == options.options.size();
    }
    ~Contents() { release(); }
    Contents(const Contents&) = delete;
    Contents& operator=(const Contents&) = delete;

    // Goes on for some hundredths of a second: fills the tables, then finds the tasks of the
    // contents that are chosen. Returns whether all is done.
    bool advance() { return fill() && find_tasks(); }

    // Returns the most that is held at a cost of at most `limit`; nothing is worth 0.
    Value largest(Cost limit) const;

    // Chooses the most valuable contents within a limit: at most `most` of them, one of each size,
    // and one of a single fragment.
    void choose(Cost limit, Index most);

    // Returns the contents chosen; and, one content after the other, their fragments and tasks.
    Rows<Content> chosen() const { return chosen_; }
    Rows<PaidVisit> visits() const { return paid_visits_; }
    Rows<Held> tasks() const { return tasks_; }

    // Gives the tables back; after that no contents can be chosen any more.
    void release();

  private:
    struct RowRange {
        Index begin, end;
    };
    // RowRange that an option leads to other rows, all equally far.
    struct Shift {
        RowRange rows;
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
    bool fill();
    bool find_tasks();
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
    const Integers grid_;
    const Rows<CpuFragment> fragments_;
    const Cost arrival_, departure_;
    const Value worth_;
    const Index sets_, width_, height_;

    // By fragment, ends, size and row: the most that tasks of this size, of the fragments before,
    // are worth at this cost with these ends of the CPU taken. There are many more costs than
    // sizes, so that loops over the last index are long.
    std::vector<Value> table_;

    Index fragment_ = 0, next_ = 0;    // the fragment that is being added, and its next option
    Index reach_ = 0, next_reach_ = 0; // the largest size before it, and with it
    std::vector<RowRange> live_;       // before it: by ends and size, the rows that hold something
    std::vector<Shift> shifts_;        // of the option that is being added

    std::vector<Ranked> ranked_;
    std::vector<Content> chosen_;
    std::vector<Visit> visits_;          // of all chosen contents
    std::vector<PaidVisit> paid_visits_; // those of the visits whose tasks have been found
    std::vector<Held> tasks_;
    std::optional<TaskSearch> search_;
};

} // namespace dfopt::pricing
