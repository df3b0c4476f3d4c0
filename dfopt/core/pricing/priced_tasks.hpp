// What pricing knows of an instance, and its tasks at some prices.
//
// Costs are counted in a unit of the instance. The rows of tables are costs: for one fragment those
// that its tasks can have, for a CPU those of a grid. A cost between two rows counts as the lower
// one, so that contents seem no dearer than they are.

#pragma once

#include "../calls.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace dfopt::pricing {

using Index = std::int64_t;
using Value = Index;

// The value of an impossible choice; all other values stay far above half of it.
constexpr Value never = -(Value{1} << 61);
constexpr bool is_possible(Value value) { return value > never / 2; }

constexpr Index none = -1;

// A call from Python takes about this number of steps: some hundredths of a second.
constexpr std::int64_t steps_of_call = std::int64_t{1} << 25;

// Duties beside opening a block: closing one before another fragment, and being the CPU's last
// task. Their sum says which duties are done.
using Duties = Index;
constexpr Duties exits = 1, ends = 2;

// As in dfopt/costs/role.py: the number of a role is the sum of the ends of a CPU that it takes,
// 1 for the first and 2 for the last.
enum class Role : Index { middle, first, last, split, alone };
constexpr Index roles = 5;
constexpr Index number(Role role) { return static_cast<Index>(role); }

struct Fragment {
    Index first_class, last_class; // its classes; the last one is not among them
    Index first_row, last_row;     // all that its tasks but the opener can cost, sorted
    Index may_be_first;            // whether some CPU spares its first block the entry
};

struct TaskClass {
    Index size; // of each task; 0 where sizes do not count
    Cost base;
    Cost leaving[4]; // what doing these duties adds
    Index first_token, last_token;
};

struct Instance {
    Rows<Fragment> fragments;
    Rows<TaskClass> classes;
    Integers entries; // of each token
    Integers rows;    // of all fragments
    Integers grid;    // all that a content can cost, sorted, apart from what starting costs
    Cost unit;
    Index capacity; // the largest size of a content
    Duties duties;  // those that make a difference

    // Tables of CPUs, all of one size, that are used again: new memory costs more than filling it.
    mutable std::vector<std::vector<Value>> spare = {};

    static bool fit(Rows<Fragment>, Rows<TaskClass>, Integers, Integers, Integers, Cost, Index,
                    Duties) {
        return true;
    }
};

// Prices, and what there is to buy. A token has a number of tasks too, those that can open a block.
struct ClassPrice {
    Index number;
    Value weight;
};
struct TokenPrice {
    Index number;
    Value worth;
};
struct FragmentPrice {
    Index is_whole;  // whether it must not be split over CPUs
    Index is_paired; // whether it may have to be visited even where it is worth nothing
    Value visit;
    Index is_changed; // whether its options have to be found anew
};
// What it is worth to hold at least this number of tasks of a class.
struct Bonus {
    Index task_class, number;
    Value worth;
};

struct Priced {
    Cost cost;
    Value value;

    friend Priced operator+(Priced one, Priced other) {
        return {one.cost + other.cost, one.value + other.value};
    }
    friend Priced operator*(Index number, Priced one) {
        return {number * one.cost, number * one.value};
    }
};

struct PricedClass {
    Index number, size;
    Priced each;
    std::array<Priced, 4> duties; // what doing these adds
};

struct PricedTasks {
    const Instance& instance;
    Value cost; // the value of a unit of cost, where costs are not limited but priced; or 0
    std::vector<PricedClass> classes;
    std::vector<Priced> tokens; // opening a block with one
    Rows<FragmentPrice> fragments;
    Rows<Bonus> bonuses;

    // The rows of prices stay where they are.
    PricedTasks(const Instance& instance, Value cost, Rows<ClassPrice> class_prices,
                Rows<TokenPrice> token_prices, Rows<FragmentPrice> fragments, Rows<Bonus> bonuses)
        : instance(instance), cost(cost), fragments(fragments), bonuses(bonuses) {
        for (std::size_t one = 0; one < class_prices.size(); ++one) {
            const auto [number, weight] = class_prices[one];
            const TaskClass& own = instance.classes[one];
            classes.push_back({number, own.size, paid(own.base, weight), {}});
            for (Index done = 0; done < 4; ++done) {
                classes.back().duties[done] = paid(own.leaving[done], 0);
            }
        }
        for (std::size_t token = 0; token < token_prices.size(); ++token) {
            const auto [number, worth] = token_prices[token];
            tokens.push_back(paid(instance.entries[token], worth));
            if (number == 0) tokens.back().value = never;
        }
    }

    static bool fit(const Instance& instance, Value, Rows<ClassPrice> classes,
                    Rows<TokenPrice> tokens, Rows<FragmentPrice> fragments, Rows<Bonus>) {
        return classes.size() == instance.classes.size() &&
               tokens.size() == instance.entries.size() &&
               fragments.size() == instance.fragments.size();
    }

    // Returns what holding a number of tasks of a class is worth, beside their weights.
    Value bonus(Index task_class, Index number) const {
        Value worth = 0;
        for (const Bonus& one : bonuses) {
            if (one.task_class == task_class && number >= one.number) worth += one.worth;
        }
        return worth;
    }

  private:
    // Costs have rows where they are limited, or else they reduce the value.
    Priced paid(Cost price, Value worth) const {
        return cost == 0 ? Priced{price, worth} : Priced{0, worth - cost * price};
    }
};

// Returns the last of the sorted rows that is not above a cost, which is at least the first one;
// `none` where it is beyond the last row.
inline Index row_at_most(Integers rows, Cost cost) {
    if (cost > rows.back()) return none;
    return std::ranges::upper_bound(rows, cost) - rows.begin() - 1;
}

} // namespace dfopt::pricing
